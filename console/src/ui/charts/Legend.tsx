// The legend of a line chart. If lines can be hidden, each name is a button.
import type { CSSProperties, ReactNode } from 'react';
import { cx } from '../cx.ts';
import css from './charts.module.css';

/** `colour`: the number of the colour; undefined: the line is hidden. */
const swatchStyle = (colour: number | undefined) =>
  ({ '--series': colour === undefined ? 'var(--edge)' : `var(--series-${colour})` }) as CSSProperties;

export const Swatch = ({ colour }: { colour: number | undefined }) => (
  <span aria-hidden className={css['swatch']} style={swatchStyle(colour)} />
);

export function LegendButton(props: {
  name: string;
  colour: number | undefined;
  isOn: boolean;
  disabled?: boolean;
  onToggle: () => void;
}) {
  const { name, colour, isOn, disabled, onToggle } = props;
  return (
    <button
      type="button"
      className={cx(css['toggle'], isOn && css['on'])}
      aria-pressed={isOn}
      disabled={disabled}
      onClick={onToggle}
    >
      <Swatch colour={colour} />
      {name}
    </button>
  );
}

export const Legend = ({ children }: { children: ReactNode }) => (
  <div className={css['legend']}>{children}</div>
);
