// What has been confirmed of the columns of files: listed, and removed.
import type { Mapping } from '@soundings/contract/console.runs.ts';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useRefresh } from '../../plumbing/answers.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { IconButton } from '../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/Dialog.tsx';
import { useToast } from '../../ui/Toast.tsx';
import css from './files.module.css';
import { useMeaningWords } from './meanings.ts';

type Props = { open: boolean; onClose: () => void; mappings: Mapping[] };

export function Mappings({ open, onClose, mappings }: Props) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  const [removing, setRemoving] = useState<Mapping>();
  return (
    <Dialog
      open={open}
      onClose={onClose}
      wide
      title={t('files.layoutsTitle')}
      description={t('files.layoutsText')}
    >
      <ul className={css['mappings']}>
        {mappings.map((mapping) => (
          <li key={mapping.mappingId} className={css['mapping']}>
            <Confirmed mapping={mapping} />
            <IconButton icon={Trash2} label={t('files.forget')} onClick={() => setRemoving(mapping)} />
          </li>
        ))}
      </ul>
      <ConfirmDialog
        open={removing !== undefined}
        onClose={() => setRemoving(undefined)}
        title={t('files.forgetTitle')}
        text={t('files.forgetText')}
        confirm={t('files.forget')}
        danger
        onConfirm={async () => {
          const { mappingId } = removing as Mapping;
          await api('DELETE /mappings/{mappingId}', { params: { mappingId } });
          toast({ text: t('files.forgotten') });
          if (mappings.length === 1) onClose();
          await refresh('GET /mappings');
        }}
      />
    </Dialog>
  );
}

function Confirmed({ mapping: { kind, columns, confirmedBy, confirmedAt } }: { mapping: Mapping }) {
  const t = useText();
  const { day } = useFormat();
  const words = useMeaningWords();
  const name = confirmedBy ?? t('runs.somebody');
  return (
    <div>
      <p>
        <strong>{t(`files.kind.${kind}`)}</strong>{' '}
        <span className={css['soft']}>{t('files.confirmedBy', { name, day: day(confirmedAt) })}</span>
      </p>
      <ul className={css['pairs']}>
        {columns.map(({ header, means }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- the same header may stand twice
          <li key={index} className={means === 'ignore' ? css['soft'] : undefined}>
            {header} <span aria-hidden>→</span> {words(means)}
          </li>
        ))}
      </ul>
    </div>
  );
}
