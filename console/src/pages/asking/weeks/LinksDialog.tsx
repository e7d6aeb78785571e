// The dialog to download personal links of a week for people the service can't email, or to explain why there are none.
import type { OpenWeek } from '@soundings/contract/console/asking.ts';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Dialog } from '../../../ui/dialog/Dialog.tsx';
import { save } from '../../../ui/downloads.ts';
import { CheckboxField } from '../../../ui/form/Field.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';

export function LinksDialog({
  week,
  hasMail,
  onClose,
}: {
  week: OpenWeek;
  hasMail: boolean;
  onClose: () => void;
}) {
  const t = useText();
  const { sentence } = useWeekText();
  const [isReplacing, setReplacing] = useState(false);
  async function download() {
    const { name, csv, people } = await api('POST /rounds/{week}/links', {
      params: { week: week.week },
      body: { isReplacing },
    });
    // The byte order mark, by which spreadsheet programs recognize UTF-8.
    save(name, new Blob(['\uFEFF', csv], { type: 'text/csv;charset=utf-8' }));
    return t('asking.linksCreated', { count: people });
  }
  const title = t('asking.linksTitle', { week: sentence(week) });
  if (week.linkable === 0)
    return (
      <Dialog
        onClose={onClose}
        title={title}
        description={t('asking.linksNone')}
        actions={
          <Button kind="primary" onClick={onClose}>
            {t('action.close')}
          </Button>
        }
      >
        <p>{t('asking.linksNoneText')}</p>
      </Dialog>
    );
  return (
    <ConfirmDialog
      staysWhileBusy
      onClose={onClose}
      title={title}
      description={t(hasMail ? 'asking.linksText' : 'asking.linksTextNoMail')}
      text={
        <>
          <Notice tone="warn" title={t('asking.linksWarning')}>
            {t('asking.linksWarningText')}
          </Notice>
          <CheckboxField
            label={t('asking.linksReplace')}
            hint={t('asking.linksReplaceText')}
            value={isReplacing}
            onChange={setReplacing}
          />
        </>
      }
      icon={Download}
      confirm={t('asking.linksDownload', { count: week.linkable })}
      onConfirm={download}
    />
  );
}
