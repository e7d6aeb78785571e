// The colour of a line, beside its name.
import type { CSSProperties } from 'react';
import css from './charts.module.css';

/** `colour`: the number of the colour. */
const swatchStyle = (colour: number) => ({ '--series': `var(--series-${colour})` }) as CSSProperties;

export const Swatch = ({ colour }: { colour: number }) => (
  <span aria-hidden className={css['swatch']} style={swatchStyle(colour)} />
);
