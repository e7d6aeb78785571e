// The attributes of the account, their allowed values, and the breakdowns that results are shown by.
import type { AttributeRow } from '@soundings/contract/console/groups.ts';
import { ChartNoAxesColumn, Pencil, Plus, SlidersHorizontal, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useData, useRefresh } from '../../hooks/data.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog.tsx';
import { Empty } from '../../ui/page/Empty.tsx';
import { Menu } from '../../ui/floating/Menu.tsx';
import { Page } from '../../ui/page/Page.tsx';
import { Loaded } from '../../ui/page/States.tsx';
import { type Column, DataTable } from '../../ui/table/DataTable.tsx';
import { AttributeDialog } from './AttributeDialog.tsx';
import { OpenBreakdownDialog } from './segments/OpenBreakdownDialog.tsx';
import { BreakdownsSection } from './segments/BreakdownsSection.tsx';
import css from './GroupPage.module.css';

/** The open dialog. Without `attribute`, a new attribute is defined. */
type Doing = { what: 'define' | 'remove' | 'open'; attribute?: AttributeRow };

export function AttributesPage() {
  const t = useText();
  const response = useData('GET /attributes');
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  const add = (
    <Button kind="primary" icon={Plus} onClick={() => setDoing({ what: 'define' })}>
      {t('attributes.add')}
    </Button>
  );
  return (
    <Page title={t('attributes.title')} subtitle={t('attributes.subtitle')} actions={add}>
      <Loaded response={response}>
        {({ attributes }) =>
          attributes.length === 0 ? (
            <Empty
              icon={SlidersHorizontal}
              title={t('attributes.none')}
              text={t('attributes.noneText')}
              action={add}
            />
          ) : (
            <>
              <Attributes rows={attributes} onDo={setDoing} />
              <BreakdownsSection />
            </>
          )
        }
      </Loaded>
      {doing?.what === 'define' && <AttributeDialog attribute={doing.attribute} onClose={close} />}
      {doing?.what === 'open' && doing.attribute && (
        <OpenBreakdownDialog attribute={doing.attribute.name} onClose={close} />
      )}
      {doing?.what === 'remove' && doing.attribute && (
        <RemoveDialog attribute={doing.attribute} onClose={close} />
      )}
    </Page>
  );
}

function Attributes({ rows, onDo }: { rows: AttributeRow[]; onDo: (doing: Doing) => void }) {
  const t = useText();
  const { number } = useFormat();
  const columns: Column<AttributeRow>[] = [
    { key: 'name', title: t('attributes.name'), width: 'minmax(90px, 1fr)', cell: ({ name }) => name },
    {
      key: 'values',
      title: t('attributes.values'),
      width: 'minmax(100px, 3fr)',
      cell: (row) => <Values row={row} />,
    },
    {
      key: 'people',
      title: t('groups.peopleColumn'),
      width: 90,
      align: 'end',
      wideOnly: true,
      cell: ({ people }) => number(people),
    },
    {
      key: 'menu',
      title: t('action.more'),
      hideTitle: true,
      width: 40,
      cell: () => null,
      beside: (attribute) => (
        <Menu
          label={t('attributes.menu', { name: attribute.name })}
          items={[
            {
              label: t('attributes.change'),
              icon: Pencil,
              onSelect: () => onDo({ what: 'define', attribute }),
            },
            {
              label: t('breakdowns.openBy'),
              icon: ChartNoAxesColumn,
              onSelect: () => onDo({ what: 'open', attribute }),
            },
            {
              label: t('attributes.remove'),
              icon: Trash2,
              danger: true,
              onSelect: () => onDo({ what: 'remove', attribute }),
            },
          ]}
        />
      ),
    },
  ];
  return (
    <DataTable
      label={t('attributes.title')}
      rows={rows}
      rowKey={({ name }) => name}
      onRow={(attribute) => onDo({ what: 'define', attribute })}
      columns={columns}
    />
  );
}

/** The first allowed values, and how many people have values that are not allowed. */
function Values({ row: { allowedValues, disallowedValues } }: { row: AttributeRow }) {
  const t = useText();
  const shown = allowedValues?.slice(0, 6) ?? [];
  const more = (allowedValues?.length ?? 0) - shown.length;
  return (
    <span className={css['chips']}>
      {disallowedValues > 0 && (
        <Badge tone="warn">{t('attributes.strays', { count: disallowedValues })}</Badge>
      )}
      {allowedValues === null && <span className={css['none']}>{t('attributes.anyText')}</span>}
      {shown.map((value) => (
        <Badge key={value}>{value}</Badge>
      ))}
      {more > 0 && <span className={css['none']}>{t('attributes.moreValues', { count: more })}</span>}
    </span>
  );
}

function RemoveDialog({ attribute, onClose }: { attribute: AttributeRow; onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  const { name, people } = attribute;
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('attributes.removeTitle', { name })}
      text={`${people > 0 ? t('attributes.removeValues', { count: people }) : t('attributes.removeUnused')} ${t('attributes.removePush')}`}
      confirm={t('attributes.remove')}
      danger
      {...(people > 0 && { typed: name })}
      onConfirm={async () => {
        const erased = await api('DELETE /attributes', { query: { name } });
        await refresh('GET /attributes');
        return t('attributes.removed', { name, count: erased.people });
      }}
    />
  );
}
