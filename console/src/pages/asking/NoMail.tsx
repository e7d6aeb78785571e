// Where no mail server is set: messages wait, and what can be done.
import { useText } from '../../text/text.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Padded } from '../../ui/Section.tsx';

export function NoMail() {
  const t = useText();
  return (
    <Padded>
      <Notice tone="warn" title={t('asking.noMail')}>
        {t('asking.noMailText')}
      </Notice>
    </Padded>
  );
}
