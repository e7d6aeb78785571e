// The audit log: who did what, when, and from where. It can be filtered, and the filtered log can be downloaded.
import type { AuditEntry } from '@soundings/contract/console/access.ts';
import { Download, ScrollText, SearchX } from 'lucide-react';
import { useState } from 'react';
import { addressOf } from '../../api.ts';
import { useAddress } from '../../hooks/data.ts';
import { useMedia } from '../../hooks/media.ts';
import { useWindows } from '../../hooks/windows.ts';
import { useSession } from '../../session.tsx';
import { useFormat, useLanguage, useText } from '../../text/text.tsx';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { Empty } from '../../ui/page/Empty.tsx';
import { Page, ToolbarGap, ToolbarText } from '../../ui/page/Page.tsx';
import { SearchField } from '../../ui/form/SearchField.tsx';
import { Select } from '../../ui/form/Select.tsx';
import type { Column } from '../../ui/table/DataTable.tsx';
import { LazyTable } from '../../ui/table/LazyTable.tsx';
import css from './access.module.css';
import { AuditEntryDialog, AuditSubject, AuditWho } from './AuditEntry.tsx';
import { useAuditText } from './audit-texts.ts';

const filters = ['search', 'origin', 'action', 'from', 'to'] as const;
const origins = ['console', 'command', 'api', 'file', 'service'] as const;

export function AuditPage() {
  const t = useText();
  const [address, setAddress] = useAddress<(typeof filters)[number]>();
  const found = useAuditText().actionsNamed(address.search ?? '');
  const query = {
    ...Object.fromEntries(filters.map((name) => [name, address[name]])),
    ...(found.length > 0 && { found: found.join(',') }),
  } as Record<string, string>;
  const windows = useWindows('GET /audit', { query: query as never });
  const columns = useColumns();
  const isPhone = useMedia('(max-width: 720px)');
  const [opened, setOpened] = useState<AuditEntry>();
  const { count } = windows;
  const isFiltered = filters.some((name) => address[name]);
  const clear = () => setAddress(Object.fromEntries(filters.map((name) => [name, undefined])));
  return (
    <Page
      title={t('audit.title')}
      subtitle={t('audit.subtitle')}
      actions={
        <LinkButton href={addressOf('GET /audit/export', { query })} download icon={Download}>
          {t('audit.export')}
        </LinkButton>
      }
      toolbar={
        <>
          <SearchField
            label={t('audit.search')}
            value={address.search ?? ''}
            onChange={(search) => setAddress({ search })}
          />
          <Filters address={address} setAddress={setAddress} actions={windows.response?.actions ?? []} />
          <ToolbarGap />
          {count !== undefined && <ToolbarText>{t('audit.count', { count })}</ToolbarText>}
        </>
      }
    >
      <LazyTable
        label={t('audit.title')}
        columns={columns}
        rowKey={({ id }) => id}
        onRow={setOpened}
        // On phones, the time and the name need two lines.
        rowHeight={isPhone ? 56 : 44}
        windows={windows}
        empty={
          isFiltered ? (
            <Empty
              icon={SearchX}
              title={t('state.noMatch')}
              text={t('audit.noMatchText')}
              action={<Button onClick={clear}>{t('action.clearFilters')}</Button>}
            />
          ) : (
            <Empty icon={ScrollText} title={t('audit.emptyTitle')} text={t('audit.emptyText')} />
          )
        }
      />
      {opened && <AuditEntryDialog entry={opened} onClose={() => setOpened(undefined)} />}
    </Page>
  );
}

type Address = Partial<Record<(typeof filters)[number], string>>;

/** The time zone of the times shown. The days of the filter are in the account's time zone. */
const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

function Filters(props: { address: Address; setAddress: (changes: Address) => void; actions: string[] }) {
  const t = useText();
  const { address, setAddress, actions } = props;
  const texts = useAuditText();
  const zone = useSession().account.timezone;
  const language = useLanguage();
  const any = { value: '', label: t('audit.any') };
  const named = actions
    .map((value) => ({ value, label: texts.action(value) }))
    .toSorted((a, b) => a.label.localeCompare(b.label, language));
  return (
    <>
      <Select
        label={t('audit.origin')}
        value={address.origin ?? ''}
        onChange={(origin) => setAddress({ origin })}
        options={[any, ...origins.map((value) => ({ value, label: t(`audit.origin.${value}`) }))]}
      />
      <Select
        label={t('audit.action')}
        value={address.action ?? ''}
        onChange={(action) => setAddress({ action })}
        options={[any, ...named]}
      />
      <label className={css['day']}>
        {t('audit.since')}
        <input
          type="date"
          value={address.from ?? ''}
          onChange={({ target }) => setAddress({ from: target.value })}
        />
      </label>
      <label className={css['day']}>
        {t('audit.until')}
        <input
          type="date"
          value={address.to ?? ''}
          onChange={({ target }) => setAddress({ to: target.value })}
        />
      </label>
      {zone !== ownZone() && <small className={css['soft']}>{t('audit.zone', { zone })}</small>}
    </>
  );
}

function useColumns(): Column<AuditEntry>[] {
  const t = useText();
  const format = useFormat();
  const texts = useAuditText();
  return [
    {
      key: 'when',
      title: t('audit.when'),
      width: 'minmax(84px, 0.9fr)',
      cell: ({ at }) => (
        <time className={css['time']} dateTime={at}>
          {format.time(at)}
        </time>
      ),
    },
    {
      key: 'who',
      title: t('audit.who'),
      width: 'minmax(88px, 1.15fr)',
      cell: (entry) => <AuditWho {...entry} />,
    },
    {
      key: 'what',
      title: t('audit.what'),
      width: 'minmax(130px, 1.35fr)',
      leads: true,
      cell: (entry) => (
        <span className={css['two']}>
          <b>{texts.action(entry.action)}</b>
          {entry.subject !== null && <small className={css['phoneOnly']}>{texts.subject(entry)}</small>}
        </span>
      ),
    },
    {
      key: 'subject',
      title: t('audit.subject'),
      width: 'minmax(120px, 1fr)',
      wideOnly: true,
      cell: (entry) => <AuditSubject {...entry} />,
    },
    {
      key: 'details',
      title: t('audit.details'),
      width: 'minmax(120px, 1.6fr)',
      wideOnly: true,
      cell: ({ details }) => <Details details={details} />,
    },
    {
      key: 'address',
      title: t('audit.address'),
      width: 120,
      wideOnly: 'medium',
      cell: ({ address }) => address !== null && <code className={css['soft']}>{address}</code>,
    },
  ];
}

/** The details of an entry in one line. */
function Details({ details }: { details: AuditEntry['details'] }) {
  const text = useAuditText().details(details).join('; ');
  return (
    <span className={css['soft']} title={text}>
      {text}
    </span>
  );
}
