// Marks figures that are partly based on links or cards that the employer handed out.
import { useText } from '../../text/text.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Toggletip } from '../../ui/floating/Toggletip.tsx';
import css from './results.module.css';

/** The mark of a figure that is partly based on links or cards that the employer handed out. */
export function HandedOut() {
  const t = useText();
  return (
    <Toggletip text={t('results.handedOut')}>
      <Badge tone="warn">{t('results.handedOutShort')}</Badge>
    </Toggletip>
  );
}

/** The note beside a chart or table with such marks. */
export function HandedOutNote() {
  const t = useText();
  return <p className={css['soft']}>{t('results.handedOutSome')}</p>;
}
