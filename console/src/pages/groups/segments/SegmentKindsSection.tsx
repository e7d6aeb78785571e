// The kinds of segments: by which attributes results are shown, and closing and removing them.
import type { SegmentKindRow, SegmentKinds } from '@soundings/contract/console/segments.ts';
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
import { OpenKindDialog } from './OpenKindDialog.tsx';

/** The open dialog. */
type Doing = { what: 'combine' } | { what: 'close' | 'remove'; kind: SegmentKindRow };

export function SegmentKindsSection() {
  const t = useText();
  const response = useData('GET /segments');
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  const kinds = response.data?.kinds ?? [];
  const canCombine = kinds.filter(({ closedAt, crossOf }) => closedAt === null && !crossOf).length > 1;
  return (
    <Section
      title={t('segments.title')}
      description={t('segments.text')}
      actions={
        canCombine && (
          <Button icon={Combine} onClick={() => setDoing({ what: 'combine' })}>
            {t('segments.combine')}
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
                <Notice tone="warn">{t('segments.live')}</Notice>
              </Padded>
            )}
            {read.kinds.length === 0 ? (
              <Empty icon={ChartNoAxesColumn} title={t('segments.none')} text={t('segments.noneText')} />
            ) : (
              <KindTable read={read} onDo={setDoing} />
            )}
          </>
        )}
      </Loaded>
      {doing?.what === 'combine' && <OpenKindDialog attribute={null} onClose={close} />}
      {doing?.what === 'close' && <CloseDialog kind={doing.kind} onClose={close} />}
      {doing?.what === 'remove' && <RemoveDialog kind={doing.kind} onClose={close} />}
    </Section>
  );
}

function KindTable({ read, onDo }: { read: SegmentKinds; onDo: (doing: Doing) => void }) {
  const t = useText();
  const { number, day } = useFormat();
  const columns: Column<SegmentKindRow>[] = [
    {
      key: 'name',
      title: t('segments.name'),
      width: 'minmax(120px, 2fr)',
      cell: (kind) => (
        <span className={css['chips']}>
          {kind.name} {kind.closedAt !== null && <Badge>{t('segments.closed')}</Badge>}
        </span>
      ),
    },
    {
      key: 'by',
      title: t('segments.by'),
      width: 'minmax(0, 3fr)',
      wideOnly: true,
      cell: (kind) => <By kind={kind} />,
    },
    {
      key: 'opened',
      title: t('segments.opened'),
      width: 'minmax(90px, 1fr)',
      wideOnly: true,
      cell: ({ openedAt }) => day(openedAt),
    },
    {
      key: 'segments',
      title: t('segments.count'),
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
      beside: (kind) => (
        <Menu
          label={t('segments.menu', { name: kind.name })}
          items={[
            ...(kind.closedAt === null
              ? [
                  {
                    label: t('segments.close'),
                    icon: CircleSlash,
                    onSelect: () => onDo({ what: 'close', kind }),
                  },
                ]
              : []),
            {
              label: t('segments.remove'),
              icon: Trash2,
              danger: true,
              onSelect: () => onDo({ what: 'remove', kind }),
            },
          ]}
        />
      ),
    },
  ];
  return (
    <DataTable label={t('segments.title')} rows={read.kinds} rowKey={({ id }) => id} columns={columns} />
  );
}

/** "Attribute birthDate, in years: 30, 40", or the two kinds that are combined. */
function By({ kind: { attribute, bands, crossOf } }: { kind: SegmentKindRow }) {
  const t = useText();
  if (crossOf) return t('segments.byTwo', { one: crossOf[0]?.name ?? '', other: crossOf[1]?.name ?? '' });
  return bands
    ? t('segments.byBands', { attribute: attribute ?? '', bands: bands.join(', ') })
    : t('segments.byAttribute', { attribute: attribute ?? '' });
}

type DialogProps = { kind: SegmentKindRow; onClose: () => void };

function CloseDialog({ kind: { id, name }, onClose }: DialogProps) {
  const t = useText();
  const refresh = useRefresh();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('segments.closeTitle', { name })}
      text={t('segments.closeText')}
      confirm={t('segments.close')}
      onConfirm={async () => {
        await api('POST /segments/{kindId}/close', { params: { kindId: id } });
        await refresh('GET /segments');
        return t('segments.closedToast', { name });
      }}
    />
  );
}

function RemoveDialog({ kind: { id, name, segments }, onClose }: DialogProps) {
  const t = useText();
  const refresh = useRefresh();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('segments.removeTitle', { name })}
      text={segments > 0 ? t('segments.removeText', { count: segments }) : t('segments.removeUnused')}
      confirm={t('segments.remove')}
      danger
      {...(segments > 0 && { typed: name })}
      onConfirm={async () => {
        await api('DELETE /segments/{kindId}', { params: { kindId: id } });
        await refresh('GET /segments');
        return t('segments.removed', { name });
      }}
    />
  );
}
