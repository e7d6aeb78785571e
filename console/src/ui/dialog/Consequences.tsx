// A list of the consequences of an action, shown before it is done.
import css from './Consequences.module.css';

type ConsequencesProps = {
  title?: string;
  /** The consequences. One that doesn't apply is false. */
  items: readonly (string | false)[];
};

export const Consequences = ({ title, items }: ConsequencesProps) => (
  <div>
    {title !== undefined && <p className={css['title']}>{title}</p>}
    <ul className={css['items']}>
      {items
        .filter((item) => item !== false)
        .map((item) => (
          <li key={item}>{item}</li>
        ))}
    </ul>
  </div>
);
