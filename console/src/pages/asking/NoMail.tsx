// Shown if no mail server is configured: messages wait, and what to do.
import { useText } from '../../text/text.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { Padded } from '../../ui/page/Section.tsx';

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
