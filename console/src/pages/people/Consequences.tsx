// A list of the consequences of an action, shown before it is done.
import { useText } from '../../text/text.tsx';
import css from './people.module.css';

export function Consequences({ items }: { items: string[] }) {
  const t = useText();
  return (
    <div>
      <p className={css['next']}>{t('people.next')}</p>
      <ul className={css['points']}>
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </div>
  );
}
