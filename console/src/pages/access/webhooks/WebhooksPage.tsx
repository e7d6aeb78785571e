// Webhooks: the addresses of other systems that are notified of events, and whether they take them.
import type { EndpointSummary } from '@soundings/contract/webhooks/endpoints.ts';
import { Plus, Webhook } from 'lucide-react';
import { useState } from 'react';
import { useData } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { type Column, DataTable } from '../../../ui/table/DataTable.tsx';
import { NewEndpoint } from './EndpointForm.tsx';
import { EndpointState, hostOf } from './texts.tsx';
import css from '../access.module.css';

export function WebhooksPage() {
  const t = useText();
  const response = useData('GET /webhooks', undefined, { everyMs: 10_000 });
  const [isCreating, setCreating] = useState(false);
  const create = (
    <Button kind="primary" icon={Plus} onClick={() => setCreating(true)}>
      {t('webhooks.create')}
    </Button>
  );
  return (
    <Page
      title={t('webhooks.title')}
      waits={!response.data}
      subtitle={t('webhooks.subtitle')}
      actions={create}
    >
      <Loaded response={response}>{({ endpoints }) => <Endpoints rows={endpoints} />}</Loaded>
      {isCreating && <NewEndpoint onClose={() => setCreating(false)} />}
    </Page>
  );
}

function Endpoints({ rows }: { rows: EndpointSummary[] }) {
  const t = useText();
  const { ago, number } = useFormat();
  const columns: Column<EndpointSummary>[] = [
    {
      key: 'endpoint',
      title: t('webhooks.endpoint'),
      width: 'minmax(150px, 2fr)',
      cell: ({ description, url }) => (
        <span className={css['two']}>
          <b>{description || hostOf(url)}</b>
          <small>{description ? hostOf(url) : new URL(url).pathname}</small>
        </span>
      ),
    },
    {
      key: 'state',
      title: t('webhooks.state'),
      width: 'minmax(120px, 1fr)',
      cell: (endpoint) => <EndpointState {...endpoint} />,
    },
    {
      key: 'events',
      title: t('webhooks.events'),
      width: 'minmax(90px, 0.8fr)',
      wideOnly: true,
      cell: ({ events }) => t('webhooks.eventCount', { count: events.length }),
    },
    {
      key: 'lastSent',
      title: t('webhooks.lastSent'),
      wideOnly: true,
      cell: ({ lastSentAt }) =>
        lastSentAt === null ? <span className={css['soft']}>{t('webhooks.never')}</span> : ago(lastSentAt),
    },
    {
      key: 'waiting',
      title: t('webhooks.waiting'),
      width: 90,
      align: 'end',
      wideOnly: true,
      cell: ({ waiting }) => number(waiting),
    },
    {
      key: 'failed',
      title: t('webhooks.failed'),
      width: 110,
      align: 'end',
      wideOnly: true,
      cell: ({ failed }) => number(failed),
    },
  ];
  return (
    <DataTable
      label={t('webhooks.title')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      rowHeight={60}
      to={({ id }) => `/webhooks/${id}`}
      empty={<Empty icon={Webhook} title={t('webhooks.emptyTitle')} text={t('webhooks.emptyText')} />}
    />
  );
}
