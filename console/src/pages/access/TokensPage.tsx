// API tokens: who created them, and when and from where they were used. Also creates and revokes tokens.
import type { TokenSummary } from '@soundings/contract/console/access.ts';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useData, useRefresh } from '../../hooks/data.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { Badge } from '../../ui/Badge.tsx';
import { Button } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/dialog/ConfirmDialog.tsx';
import { Empty } from '../../ui/page/Empty.tsx';
import { SwitchField } from '../../ui/form/Field.tsx';
import { Page, ToolbarGap } from '../../ui/page/Page.tsx';
import { Loaded } from '../../ui/page/States.tsx';
import { type Column, DataTable } from '../../ui/table/DataTable.tsx';
import css from './access.module.css';
import { NewToken } from './NewToken.tsx';

const day = 86_400_000;

const isExpired = ({ expiresAt }: TokenSummary) => expiresAt !== null && new Date(expiresAt) < new Date();
const isEnding = (expiresAt: string) => new Date(expiresAt).getTime() - Date.now() < 14 * day;
const isOld = (token: TokenSummary) => token.revokedAt !== null || isExpired(token);

export function TokensPage() {
  const t = useText();
  const response = useData('GET /tokens');
  const [isMaking, setIsMaking] = useState(false);
  const [hasOld, setHasOld] = useState(false);
  const [revoking, setRevoking] = useState<TokenSummary>();
  const create = (
    <Button kind="primary" icon={Plus} onClick={() => setIsMaking(true)}>
      {t('tokens.create')}
    </Button>
  );
  const tokens = response.data?.tokens ?? [];
  return (
    <Page
      title={t('tokens.title')}
      waits={!response.data}
      subtitle={t('tokens.subtitle')}
      actions={create}
      toolbar={
        tokens.some(isOld) && (
          <>
            <ToolbarGap />
            <SwitchField label={t('tokens.showOld')} value={hasOld} onChange={setHasOld} />
          </>
        )
      }
    >
      <Loaded response={response}>
        {({ tokens: all }) => (
          <Tokens rows={all.filter((token) => hasOld || !isOld(token))} onRevoke={setRevoking} />
        )}
      </Loaded>
      {isMaking && <NewToken onClose={() => setIsMaking(false)} />}
      {revoking && <Revoking token={revoking} onClose={() => setRevoking(undefined)} />}
    </Page>
  );
}

function Tokens({ rows, onRevoke }: { rows: TokenSummary[]; onRevoke: (token: TokenSummary) => void }) {
  const t = useText();
  const columns: Column<TokenSummary>[] = [
    {
      key: 'name',
      title: t('tokens.name'),
      width: 'minmax(116px, 1.2fr)',
      cell: (token) => <Name {...token} />,
    },
    {
      key: 'scopes',
      title: t('tokens.scopes'),
      width: 'minmax(180px, 1.4fr)',
      wideOnly: true,
      cell: ({ scopes, numbers }) => (
        <span className={css['badges']}>
          {scopes.map((scope) => (
            <Badge key={scope}>{t(`tokens.scope.${scope}`)}</Badge>
          ))}
          {numbers === 'quoted' && <Badge>{t('tokens.quoted')}</Badge>}
        </span>
      ),
    },
    { key: 'used', title: t('tokens.lastUsed'), wideOnly: true, cell: (token) => <Used {...token} /> },
    {
      key: 'state',
      title: t('tokens.state'),
      width: 'minmax(88px, 0.8fr)',
      cell: (token) => (
        <span className={css['state']}>
          <State {...token} />
        </span>
      ),
    },
    {
      key: 'revoke',
      title: t('tokens.revoke'),
      hideTitle: true,
      width: 100,
      align: 'end',
      cell: (token) =>
        !isOld(token) && (
          <Button kind="quiet" onClick={() => onRevoke(token)}>
            {t('tokens.revoke')}
          </Button>
        ),
    },
  ];
  return (
    <DataTable
      label={t('tokens.title')}
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      rowHeight={60}
      empty={<Empty icon={KeyRound} title={t('tokens.emptyTitle')} text={t('tokens.emptyText')} />}
    />
  );
}

function Name({ name, createdAt, createdBy }: TokenSummary) {
  const t = useText();
  const format = useFormat();
  const by = createdBy === null ? t('tokens.byCommand') : t('tokens.createdBy', { name: createdBy });
  return (
    <span className={css['two']}>
      <b>{name}</b>
      <small className={css['createdBy']}>
        <span>
          {t('tokens.created')} {format.day(createdAt)}
        </span>{' '}
        <span>{by}</span>
      </small>
    </span>
  );
}

function Used({ lastUsedAt, lastUsedFrom }: TokenSummary) {
  const t = useText();
  const format = useFormat();
  if (lastUsedAt === null) return <span className={css['soft']}>{t('tokens.never')}</span>;
  return (
    <span className={css['two']}>
      {format.ago(lastUsedAt)}
      {lastUsedFrom !== null && <small>{t('tokens.from', { address: lastUsedFrom })}</small>}
    </span>
  );
}

function State(token: TokenSummary) {
  const t = useText();
  const format = useFormat();
  const { expiresAt, revokedAt } = token;
  if (revokedAt !== null) return <Badge tone="neutral">{t('tokens.revoked')}</Badge>;
  if (isExpired(token)) return <Badge tone="bad">{t('tokens.expired')}</Badge>;
  if (expiresAt === null) return <Badge tone="good">{t('tokens.valid')}</Badge>;
  if (isEnding(expiresAt))
    return <Badge tone="warn">{t('tokens.expiresSoon', { ago: format.ago(expiresAt) })}</Badge>;
  return <Badge tone="good">{t('tokens.expiresOn', { day: format.day(expiresAt) })}</Badge>;
}

function Revoking({ token, onClose }: { token: TokenSummary; onClose: () => void }) {
  const t = useText();
  const format = useFormat();
  const refresh = useRefresh();
  const { id, name, scopes, lastUsedAt } = token;
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('tokens.revokeTitle', { name })}
      text={
        <>
          <p>{t('tokens.revokeText')}</p>
          <p className={css['consequences']}>
            {t('tokens.revokeConsequences')} {scopes.map((scope) => t(`tokens.scope.${scope}`)).join(', ')}.{' '}
            {lastUsedAt === null
              ? t('tokens.revokeUnused')
              : t('tokens.revokeUsed', { ago: format.ago(lastUsedAt) })}
          </p>
        </>
      }
      confirm={t('tokens.revokeNow')}
      danger
      onConfirm={async () => {
        await api('DELETE /tokens/{tokenId}', { params: { tokenId: id } });
        await refresh('GET /tokens');
        return t('tokens.isRevoked', { name });
      }}
    />
  );
}
