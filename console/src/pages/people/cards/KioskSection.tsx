// The kiosks: shared devices on which people answer with their cards. Also creates them and turns them off.
import type { KioskRow } from '@soundings/contract/console/cards.ts';
import { Plus, TabletSmartphone } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { type Column, DataTable } from '../../../ui/table/DataTable.tsx';
import { NewKiosk } from './NewKiosk.tsx';

export function KioskSection({ kiosks }: { kiosks: KioskRow[] }) {
  const t = useText();
  const { day } = useFormat();
  const [isCreating, setCreating] = useState(false);
  const [turningOff, setTurningOff] = useState<KioskRow>();
  const columns: Column<KioskRow>[] = [
    {
      key: 'name',
      title: t('kiosks.name'),
      width: 'minmax(110px, 1.4fr)',
      cell: ({ name }) => <b>{name}</b>,
    },
    {
      key: 'group',
      title: t('kiosks.who'),
      width: 'minmax(110px, 1.4fr)',
      cell: ({ group }) => group?.name ?? t('kiosks.everyone'),
    },
    {
      key: 'created',
      title: t('kiosks.createdAt'),
      width: 'minmax(120px, 1fr)',
      wideOnly: true,
      cell: ({ createdAt, createdBy }) => [day(createdAt), createdBy].filter(Boolean).join(', '),
    },
    {
      key: 'off',
      title: t('kiosks.turnOff'),
      hideTitle: true,
      width: 110,
      align: 'end',
      cell: (kiosk) => (
        <Button kind="quiet" onClick={() => setTurningOff(kiosk)}>
          {t('kiosks.turnOff')}
        </Button>
      ),
    },
  ];
  return (
    <Section
      title={t('kiosks.title')}
      description={t('kiosks.text')}
      actions={
        <Button icon={Plus} onClick={() => setCreating(true)}>
          {t('kiosks.create')}
        </Button>
      }
      flush
    >
      {kiosks.length === 0 ? (
        <Empty icon={TabletSmartphone} title={t('kiosks.none')} text={t('kiosks.noneText')} />
      ) : (
        <DataTable label={t('kiosks.title')} columns={columns} rows={kiosks} rowKey={({ id }) => id} />
      )}
      {isCreating && <NewKiosk onClose={() => setCreating(false)} />}
      {turningOff && <TurningOff kiosk={turningOff} onClose={() => setTurningOff(undefined)} />}
    </Section>
  );
}

function TurningOff({ kiosk: { id, name }, onClose }: { kiosk: KioskRow; onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  return (
    <ConfirmDialog
      danger
      onClose={onClose}
      title={t('kiosks.turnOffTitle', { name })}
      text={<p>{t('kiosks.turnOffText')}</p>}
      confirm={t('kiosks.turnOff')}
      onConfirm={async () => {
        await api('DELETE /kiosks/{kioskId}', { params: { kioskId: id } });
        await refresh('GET /cards');
        return t('kiosks.turnedOff', { name });
      }}
    />
  );
}
