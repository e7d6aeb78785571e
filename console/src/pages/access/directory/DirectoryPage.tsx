// The directory that provisions people over SCIM: how it connects, what waits, the rule for the groups, and its last requests.
import type { Directory, ScimRequestRow } from '@soundings/contract/scim/directory.ts';
import { ArrowRight, Plus, Radio } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useErrorToast } from '../../../hooks/error-toast.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button, LinkButton } from '../../../ui/Button.tsx';
import { Copy } from '../../../ui/Copy.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import { SelectField } from '../../../ui/form/Select.tsx';
import { DescriptionList } from '../../../ui/page/DescriptionList.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { type Column, DataTable } from '../../../ui/table/DataTable.tsx';
import css from '../access.module.css';
import { DirectoryRule } from './DirectoryRule.tsx';
import { DirectoryWaiting } from './DirectoryWaiting.tsx';
import { NewToken } from '../NewToken.tsx';

export function DirectoryPage() {
  const t = useText();
  const response = useData('GET /directory');
  return (
    <Page title={t('directory.title')} subtitle={t('directory.subtitle')} narrow>
      <Loaded response={response}>
        {(directory) => (
          <>
            <Connection {...directory} />
            <State {...directory} />
            <DirectoryWaiting {...directory.blocked} />
            <DirectoryRule chosen={directory.rule} />
            <Requests {...directory} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Connection({ address, tokens }: Directory) {
  const t = useText();
  const refresh = useRefresh();
  const [isMaking, setIsMaking] = useState(false);
  const close = () => {
    setIsMaking(false);
    void refresh('GET /directory');
  };
  return (
    <Section
      title={t('directory.connection')}
      description={t('directory.connectionText')}
      actions={
        <Button icon={Plus} kind={tokens === 0 ? 'primary' : 'secondary'} onClick={() => setIsMaking(true)}>
          {t('directory.createToken')}
        </Button>
      }
    >
      <DescriptionList
        items={[
          [t('directory.address'), <Copy key="address" text={address} label={t('directory.address')} />],
          [
            t('directory.header'),
            <Copy key="header" text="Authorization: Bearer <API_TOKEN>" label={t('directory.header')} />,
          ],
          [t('directory.tokens'), t('directory.tokenCount', { count: tokens })],
        ]}
      />
      {isMaking && <NewToken scope="scim" onClose={close} />}
    </Section>
  );
}

function State(directory: Directory) {
  const t = useText();
  const format = useFormat();
  const { users, groups, waiting, pendingRunId } = directory;
  const { active, inactive } = users;
  return (
    <Section title={t('directory.state')}>
      {pendingRunId !== null && (
        <Notice
          tone="warn"
          title={t('directory.pendingTitle')}
          actions={
            <LinkButton to={`/runs/${pendingRunId}`} icon={ArrowRight}>
              {t('directory.showRun')}
            </LinkButton>
          }
        >
          {t('directory.pendingText')}
        </Notice>
      )}
      {waiting.kept > 0 && <Notice tone="neutral">{t('directory.keptText', { count: waiting.kept })}</Notice>}
      <DescriptionList
        items={[
          [
            t('directory.users'),
            t('directory.userCount', { active: format.number(active), inactive: format.number(inactive) }),
          ],
          [t('directory.groups'), format.number(groups)],
          [t('directory.changes'), format.number(waiting.changes)],
          [
            t('directory.removals'),
            t('directory.removalCount', { people: waiting.people, groups: waiting.groups }),
          ],
        ]}
      />
      <Settle {...directory} />
    </Section>
  );
}

const settleTimes = [0, 10, 30, 60, 240] as const;

function Settle({ settleMinutes }: Directory) {
  const t = useText();
  const refresh = useRefresh();
  const toast = useToast();
  const showErrorOf = useErrorToast();
  const options = settleTimes.map((minutes) => ({
    value: String(minutes),
    label: t(`directory.settle.${minutes}`),
  }));
  const isOther = !settleTimes.some((minutes) => minutes === settleMinutes);
  const other = {
    value: String(settleMinutes),
    label: t('directory.settleOther', { minutes: String(settleMinutes) }),
  };
  const save = async (minutes: string) => {
    await api('PATCH /directory', { body: { settleMinutes: Number(minutes) } });
    await refresh('GET /directory');
    toast({ text: t('directory.settleSaved') });
  };
  return (
    <div className={css['fields']}>
      <SelectField
        label={t('directory.settle')}
        hint={t('directory.settleHint')}
        value={String(settleMinutes)}
        options={isOther ? [...options, other] : options}
        onChange={(minutes) => void showErrorOf(save(minutes))}
      />
    </div>
  );
}

function Requests({ requests }: Directory) {
  const t = useText();
  const format = useFormat();
  const columns: Column<ScimRequestRow>[] = [
    { key: 'at', title: t('directory.time'), width: 'minmax(84px, 1fr)', cell: ({ at }) => format.time(at) },
    {
      key: 'request',
      title: t('directory.request'),
      width: 'minmax(96px, 2fr)',
      cell: ({ request }) => <code className={css['name']}>{request}</code>,
    },
    {
      key: 'result',
      title: t('directory.result'),
      width: 'minmax(84px, 1fr)',
      cell: ({ status, message }) => (
        <Badge tone={status < 400 ? 'good' : 'bad'}>
          {status}
          {message !== null && ` · ${message}`}
        </Badge>
      ),
    },
    { key: 'token', title: t('directory.token'), wideOnly: true, cell: ({ token }) => token ?? '–' },
  ];
  return (
    <Section title={t('directory.requests')} description={t('directory.requestsText')} flush>
      <DataTable
        label={t('directory.requests')}
        columns={columns}
        rows={requests}
        rowKey={({ at, request }) => `${at} ${request}`}
        empty={
          <Empty icon={Radio} title={t('directory.noRequestsTitle')} text={t('directory.noRequestsText')} />
        }
      />
    </Section>
  );
}
