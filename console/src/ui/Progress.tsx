// How far something has come that takes a while.
import css from './Progress.module.css';

/** `value` is of 0 to 1; undefined: how far is not known. */
export const Progress = ({ value, label }: { value?: number; label: string }) => (
  <div className={css['progress']}>
    <span className={css['label']}>{label}</span>
    <progress className={css['track']} max={1} value={value} aria-label={label} />
  </div>
);
