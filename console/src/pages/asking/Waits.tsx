// Shows that a schedule waits until enough people are due by their date. This is not an error, so it is not shown as one.
import type { WaitingByDate } from '@soundings/contract/console/asking.ts';
import { useText } from '../../text/text.tsx';
import { Badge } from '../../ui/Badge.tsx';
import css from './asking.module.css';

export function Waits({ waits: { people, minimum } }: { waits: WaitingByDate }) {
  const t = useText();
  return (
    <span className={css['two']}>
      <Badge dot>{t('asking.waits')}</Badge>
      <span className={css['small']}>{t('asking.waitsFor', { count: people, minimum })}</span>
    </span>
  );
}
