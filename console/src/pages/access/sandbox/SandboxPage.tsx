// The administrator's own sandbox: creates, resets and deletes it, and says what is in it and how to use it.
import type { SandboxView } from '@soundings/contract/sandbox/sandbox.ts';
import { sandboxLimits } from '@soundings/contract/limits.ts';
import { FlaskConical, KeyRound, RotateCcw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useData } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Menu } from '../../../ui/floating/Menu.tsx';
import { DescriptionList } from '../../../ui/page/DescriptionList.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Progress } from '../../../ui/page/Progress.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { type CreatedToken, ShownToken } from '../NewToken.tsx';
import { Deleting, NewSandbox, ReplaceToken, Resetting } from './SandboxDialogs.tsx';
import { Use } from './SandboxUse.tsx';
import css from '../access.module.css';

type Sandbox = NonNullable<SandboxView['sandbox']>;

export function SandboxPage() {
  const t = useText();
  const [shown, setShown] = useState<{ token: CreatedToken; text: string }>();
  const response = useData('GET /sandbox', undefined, { everyMs: 3_000 });
  const { most = 0, sandbox = null } = response.data ?? {};
  return (
    <Page
      title={t('sandbox.title')}
      subtitle={t('sandbox.subtitle')}
      waits={!response.data}
      narrow
      actions={most > 0 && sandbox && <Actions sandbox={sandbox} onToken={setShown} />}
    >
      <Loaded response={response}>{(view) => <Content view={view} onToken={setShown} />}</Loaded>
      {shown && <ShownToken created={shown.token} text={shown.text} onClose={() => setShown(undefined)} />}
    </Page>
  );
}

type OnToken = (shown: { token: CreatedToken; text: string }) => void;

function Content({ view, onToken }: { view: SandboxView; onToken: OnToken }) {
  const t = useText();
  const [isCreating, setCreating] = useState(false);
  const { most, days, sandbox } = view;
  if (most === 0) return <Empty icon={FlaskConical} title={t('sandbox.off')} text={t('sandbox.offText')} />;
  if (sandbox)
    return (
      <>
        <State sandbox={sandbox} />
        <Use view={view} sandbox={sandbox} />
        <Contents />
      </>
    );
  return (
    <>
      <Empty
        icon={FlaskConical}
        title={t('sandbox.emptyTitle')}
        text={t('sandbox.emptyText')}
        action={
          <Button kind="primary" onClick={() => setCreating(true)}>
            {t('sandbox.create')}
          </Button>
        }
      />
      {isCreating && (
        <NewSandbox
          days={days}
          onClose={() => setCreating(false)}
          onCreated={(token) => onToken({ token, text: t('sandbox.tokenText') })}
        />
      )}
    </>
  );
}

function Actions({ sandbox, onToken }: { sandbox: Sandbox; onToken: OnToken }) {
  const t = useText();
  const [open, setOpen] = useState<'reset' | 'token' | 'delete'>();
  const close = () => setOpen(undefined);
  return (
    <>
      <Button icon={RotateCcw} disabled={sandbox.state !== 'ready'} onClick={() => setOpen('reset')}>
        {t('sandbox.reset')}
      </Button>
      <Menu
        label={t('sandbox.more')}
        items={[
          { label: t('sandbox.newToken'), icon: KeyRound, onSelect: () => setOpen('token') },
          'line',
          { label: t('sandbox.delete'), icon: Trash2, danger: true, onSelect: () => setOpen('delete') },
        ]}
      />
      {open === 'reset' && <Resetting onClose={close} />}
      {open === 'token' && (
        <ReplaceToken
          scopes={sandbox.scopes}
          onClose={close}
          onCreated={(token) => onToken({ token, text: t('sandbox.replacedText') })}
        />
      )}
      {open === 'delete' && <Deleting onClose={close} />}
    </>
  );
}

const tones = { creating: 'accent', ready: 'good', resetting: 'accent' } as const;

function State({ sandbox }: { sandbox: Sandbox }) {
  const t = useText();
  const { day, ago, bytes: sizeText } = useFormat();
  const { state, accountId, scopes, usedAt, deletedAfter, bytes } = sandbox;
  return (
    <Section title={t('sandbox.yours')}>
      <div className={css['created']}>
        <Working sandbox={sandbox} />
        <Trouble sandbox={sandbox} />
        <DescriptionList
          items={[
            [
              t('sandbox.state'),
              <Badge key="state" tone={tones[state]}>
                {t(`sandbox.state.${state}`)}
              </Badge>,
            ],
            [t('sandbox.account'), accountId ?? undefined],
            [
              t('sandbox.scopes'),
              <span key="scopes" className={css['badges']}>
                {scopes.map((scope) => (
                  <Badge key={scope}>{t(`tokens.scope.${scope}`)}</Badge>
                ))}
              </span>,
            ],
            [t('sandbox.used'), usedAt === null ? t('sandbox.neverUsed') : ago(usedAt)],
            [
              t('sandbox.size'),
              bytes === null
                ? undefined
                : t('sandbox.sizeOf', { size: sizeText(bytes), most: sizeText(sandboxLimits.bytes) }),
            ],
            [t('sandbox.deleted'), t('sandbox.deletedText', { day: day(deletedAfter) })],
          ]}
        />
      </div>
    </Section>
  );
}

/** What is being done, while it is. */
function Working({ sandbox: { state, before, isPreparing, weeksDone, weeks } }: { sandbox: Sandbox }) {
  const t = useText();
  if (state === 'ready') return null;
  if (before > 0) return <Progress label={t('sandbox.before', { count: before })} />;
  if (!isPreparing) return <Progress label={t('sandbox.working')} />;
  const label = t('sandbox.preparing', { done: weeksDone, weeks });
  return <Progress value={weeksDone / weeks} label={label} />;
}

function Trouble({ sandbox: { failure, bytes } }: { sandbox: Sandbox }) {
  const t = useText();
  const { ago, bytes: sizeText } = useFormat();
  const isFull = bytes !== null && bytes > sandboxLimits.bytes;
  return (
    <>
      {failure && (
        <Notice tone="bad" title={t('sandbox.failed')}>
          {failure.retryAt === null
            ? failure.message
            : t('sandbox.failedText', { message: failure.message, ago: ago(failure.retryAt) })}
        </Notice>
      )}
      {isFull && (
        <Notice tone="warn" title={t('sandbox.full')}>
          {t('sandbox.fullText', { most: sizeText(sandboxLimits.bytes) })}
        </Notice>
      )}
    </>
  );
}

function Contents() {
  const t = useText();
  return (
    <Section title={t('sandbox.contents')} description={t('sandbox.contentsText')}>
      <ul className={css['contents']}>
        {(['people', 'weeks', 'nothing'] as const).map((key) => (
          <li key={key}>{t(`sandbox.${key}`)}</li>
        ))}
      </ul>
    </Section>
  );
}
