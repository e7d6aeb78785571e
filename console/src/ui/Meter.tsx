// A meter for how much of a limit is used: "38 / 200".
import { useFormat } from '../text/text.tsx';
import type { Tone } from './Badge.tsx';
import { cx } from './cx.ts';
import css from './Meter.module.css';

export function Meter({
  value,
  max,
  tone,
  label,
}: {
  value: number;
  max: number;
  tone?: Tone;
  label: string;
}) {
  const { number } = useFormat();
  const share = max > 0 ? Math.min(1, value / max) : Number(value > 0);
  return (
    <div className={css['meter']}>
      <span>{label}</span>
      <span className={css['track']} aria-hidden>
        <span
          className={cx(css['bar'], tone && css[tone])}
          style={{ inlineSize: value > 0 ? `max(3px, ${share * 100}%)` : 0 }}
        />
      </span>
      <span className={css['figures']}>
        {number(value)}
        <span className={css['max']}> / {number(max)}</span>
      </span>
    </div>
  );
}
