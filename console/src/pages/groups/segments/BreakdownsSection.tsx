// The breakdowns: the attributes by which results are shown. Also closes and removes breakdowns.
import type { BreakdownRow, Breakdowns } from '@soundings/contract/console/results/segments.ts';
import { ChartNoAxesColumn, CircleSlash, Combine, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Menu } from '../../../ui/floating/Menu.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Padded, Section } from '../../../ui/page/Section.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { type Column, DataTable } from '../../../ui/table/DataTable.tsx';
import css from '../GroupPage.module.css';
import { OpenBreakdownDialog } from './OpenBreakdownDialog.tsx';

/** The open dialog. */
type Doing = { what: 'combine' } | { what: 'close' | 'remove'; breakdown: BreakdownRow };

export function BreakdownsSection() {
  const t = useText();
  const response = useData('GET /breakdowns');
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  const breakdowns = response.data?.breakdowns ?? [];
  const canCombine = breakdowns.filter(({ closedAt, crossOf }) => closedAt === null && !crossOf).length > 1;
  return (
    <Section
      title={t('breakdowns.title')}
      description={t('breakdowns.text')}
      actions={
        canCombine && (
          <Button icon={Combine} onClick={() => setDoing({ what: 'combine' })}>
            {t('breakdowns.combine')}
          </Button>
        )
      }
      flush
    >
      <Loaded response={response}>
        {(read) => (
          <>
            {read.isLive && (
              <Padded>
                <Notice tone="warn">{t('breakdowns.live')}</Notice>
              </Padded>
            )}
            {read.breakdowns.length === 0 ? (
              <Empty icon={ChartNoAxesColumn} title={t('breakdowns.none')} text={t('breakdowns.noneText')} />
            ) : (
              <BreakdownTable read={read} onDo={setDoing} />
            )}
          </>
        )}
      </Loaded>
      {doing?.what === 'combine' && <OpenBreakdownDialog attribute={null} onClose={close} />}
      {doing?.what === 'close' && <CloseDialog breakdown={doing.breakdown} onClose={close} />}
      {doing?.what === 'remove' && <RemoveDialog breakdown={doing.breakdown} onClose={close} />}
    </Section>
  );
}

function BreakdownTable({ read, onDo }: { read: Breakdowns; onDo: (doing: Doing) => void }) {
  const t = useText();
  const { number, day } = useFormat();
  const columns: Column<BreakdownRow>[] = [
    {
      key: 'name',
      title: t('breakdowns.name'),
      width: 'minmax(120px, 2fr)',
      cell: (breakdown) => (
        <span className={css['chips']}>
          {breakdown.name} {breakdown.closedAt !== null && <Badge>{t('breakdowns.closed')}</Badge>}
        </span>
      ),
    },
    {
      key: 'by',
      title: t('breakdowns.by'),
      width: 'minmax(0, 3fr)',
      wideOnly: true,
      cell: (breakdown) => <By breakdown={breakdown} />,
    },
    {
      key: 'opened',
      title: t('breakdowns.opened'),
      width: 'minmax(90px, 1fr)',
      wideOnly: true,
      cell: ({ openedAt }) => day(openedAt),
    },
    {
      key: 'segments',
      title: t('breakdowns.count'),
      width: 100,
      align: 'end',
      cell: ({ segments }) => number(segments),
    },
    {
      key: 'menu',
      title: t('action.more'),
      hideTitle: true,
      width: 40,
      cell: () => null,
      beside: (breakdown) => <BreakdownMenu breakdown={breakdown} onDo={onDo} />,
    },
  ];
  return (
    <DataTable
      label={t('breakdowns.title')}
      rows={read.breakdowns}
      rowKey={({ id }) => id}
      columns={columns}
    />
  );
}

type BreakdownMenuProps = { breakdown: BreakdownRow; onDo: (doing: Doing) => void };

function BreakdownMenu({ breakdown, onDo }: BreakdownMenuProps) {
  const t = useText();
  return (
    <Menu
      label={t('breakdowns.menu', { name: breakdown.name })}
      items={[
        ...(breakdown.closedAt === null
          ? [
              {
                label: t('breakdowns.close'),
                icon: CircleSlash,
                onSelect: () => onDo({ what: 'close', breakdown }),
              },
            ]
          : []),
        {
          label: t('breakdowns.remove'),
          icon: Trash2,
          danger: true,
          onSelect: () => onDo({ what: 'remove', breakdown }),
        },
      ]}
    />
  );
}

/** "Attribute birthDate, in years: 30, 40", or the two breakdowns that are combined. */
function By({ breakdown: { attribute, bands, crossOf } }: { breakdown: BreakdownRow }) {
  const t = useText();
  if (crossOf) return t('breakdowns.byTwo', { one: crossOf[0]?.name ?? '', other: crossOf[1]?.name ?? '' });
  return bands
    ? t('breakdowns.byBands', { attribute: attribute ?? '', bands: bands.join(', ') })
    : t('breakdowns.byAttribute', { attribute: attribute ?? '' });
}

type DialogProps = { breakdown: BreakdownRow; onClose: () => void };

function CloseDialog({ breakdown: { id, name }, onClose }: DialogProps) {
  const t = useText();
  const refresh = useRefresh();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('breakdowns.closeTitle', { name })}
      text={t('breakdowns.closeText')}
      confirm={t('breakdowns.close')}
      onConfirm={async () => {
        await api('POST /breakdowns/{breakdownId}/close', { params: { breakdownId: id } });
        await refresh('GET /breakdowns');
        return t('breakdowns.closedToast', { name });
      }}
    />
  );
}

function RemoveDialog({ breakdown: { id, name, segments }, onClose }: DialogProps) {
  const t = useText();
  const refresh = useRefresh();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('breakdowns.removeTitle', { name })}
      text={segments > 0 ? t('breakdowns.removeText', { count: segments }) : t('breakdowns.removeUnused')}
      confirm={t('breakdowns.remove')}
      danger
      {...(segments > 0 && { typed: name })}
      onConfirm={async () => {
        await api('DELETE /breakdowns/{breakdownId}', { params: { breakdownId: id } });
        await refresh('GET /breakdowns');
        return t('breakdowns.removed', { name });
      }}
    />
  );
}
