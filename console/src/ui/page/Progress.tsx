// A progress bar.
import css from './Progress.module.css';

/** `value`: 0 to 1; undefined: unknown. */
export const Progress = ({ value, label }: { value?: number; label: string }) => (
  <div className={css['progress']}>
    <span className={css['label']}>{label}</span>
    <progress className={css['track']} max={1} value={value} aria-label={label} />
  </div>
);
