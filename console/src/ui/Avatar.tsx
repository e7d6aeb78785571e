// The initials of a person, as a mark that is easy to find again. The colour has no meaning.
import { cx } from './cx.ts';
import css from './Avatar.module.css';

const initialsOf = (name: string): string => {
  const words = name.trim().split(/\s+/);
  return [words[0], words.length > 1 ? words.at(-1) : undefined]
    .map((word) => [...(word ?? '')][0] ?? '')
    .join('')
    .toLocaleUpperCase();
};

export const Avatar = ({ name, quiet }: { name: string; quiet?: boolean }) => (
  <span className={cx(css['avatar'], quiet && css['quiet'])} aria-hidden>
    {initialsOf(name)}
  </span>
);
