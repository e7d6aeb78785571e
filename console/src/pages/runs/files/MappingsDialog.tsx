// The confirmed mappings of columns and values: lists and removes them.
import type { Mapping, ValueMapping } from '@soundings/contract/console/runs.ts';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { IconButton } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Dialog } from '../../../ui/dialog/Dialog.tsx';
import css from './files.module.css';
import { useMeaningText, useMappedValueText } from './meanings.ts';

type Props = {
  open: boolean;
  onClose: () => void;
  mappings: { columns: Mapping[]; values: ValueMapping[] };
};

type Removing = { columns: Mapping } | { value: ValueMapping };

export function MappingsDialog({ open, onClose, mappings: { columns, values } }: Props) {
  const t = useText();
  const [removing, setRemoving] = useState<Removing>();
  return (
    <Dialog
      open={open}
      onClose={onClose}
      wide
      title={t('files.layoutsTitle')}
      description={t('files.layoutsText')}
    >
      <ul className={css['mappings']}>
        {columns.map((mapping) => (
          <li key={mapping.mappingId} className={css['mapping']}>
            <Confirmed mapping={mapping} />
            <IconButton
              icon={Trash2}
              label={t('files.forget')}
              onClick={() => setRemoving({ columns: mapping })}
            />
          </li>
        ))}
      </ul>
      {values.length > 0 && (
        <>
          <h3 className={css['sheetTitle']}>{t('files.valuesMapped')}</h3>
          <ul className={css['mappings']}>
            {values.map((value) => (
              <li key={value.mappingId} className={css['mapping']}>
                <ConfirmedValue mapping={value} />
                <IconButton icon={Trash2} label={t('files.forget')} onClick={() => setRemoving({ value })} />
              </li>
            ))}
          </ul>
        </>
      )}
      <Removal
        removing={removing}
        onClose={() => setRemoving(undefined)}
        onRemoved={() => columns.length + values.length === 1 && onClose()}
      />
    </Dialog>
  );
}

type RemovalProps = { removing: Removing | undefined; onClose: () => void; onRemoved: () => void };

function Removal({ removing, onClose, onRemoved }: RemovalProps) {
  const t = useText();
  const refresh = useRefresh();
  const value = removing && 'value' in removing ? removing.value : undefined;
  return (
    <ConfirmDialog
      open={removing !== undefined}
      onClose={onClose}
      title={value ? t('files.forgetValueTitle', { value: value.value }) : t('files.forgetTitle')}
      text={t(value ? 'files.forgetValueText' : 'files.forgetText')}
      confirm={t('files.forget')}
      danger
      onConfirm={async () => {
        const of = removing as Removing;
        if ('value' in of)
          await api('DELETE /value-mappings/{mappingId}', { params: { mappingId: of.value.mappingId } });
        else await api('DELETE /mappings/{mappingId}', { params: { mappingId: of.columns.mappingId } });
        onRemoved();
        await refresh('GET /mappings');
        return t('value' in of ? 'files.valueForgotten' : 'files.forgotten');
      }}
    />
  );
}

function ConfirmedValue({ mapping }: { mapping: ValueMapping }) {
  const t = useText();
  const { day } = useFormat();
  const columns = useMeaningText();
  const valueText = useMappedValueText();
  const { field, value, meaning, confirmedBy, confirmedAt } = mapping;
  return (
    <p>
      {columns(field)}: <strong>{value}</strong> <span aria-hidden>→</span> {valueText(field, meaning)}{' '}
      <span className={css['soft']}>
        {confirmedBy === null
          ? t('files.confirmedAtPrompt', { day: day(confirmedAt) })
          : t('files.confirmedBy', { name: confirmedBy, day: day(confirmedAt) })}
      </span>
    </p>
  );
}

function Confirmed({ mapping: { kind, columns, confirmedBy, confirmedAt } }: { mapping: Mapping }) {
  const t = useText();
  const { day } = useFormat();
  const meaningText = useMeaningText();
  const name = confirmedBy ?? t('runs.unknownPerson');
  return (
    <div>
      <p>
        <strong>{t(`files.kind.${kind}`)}</strong>{' '}
        <span className={css['soft']}>{t('files.confirmedBy', { name, day: day(confirmedAt) })}</span>
      </p>
      <ul className={css['pairs']}>
        {columns.map(({ header, meaning }, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- the same header may occur twice
          <li key={index} className={meaning === 'ignore' ? css['soft'] : undefined}>
            {header} <span aria-hidden>→</span> {meaningText(meaning)}
          </li>
        ))}
      </ul>
    </div>
  );
}
