// A pull: where its list is, what to do next, and every attempt of the last 90 days.
import type { FetchRow, PullView } from '@soundings/contract/pulls/pulls.ts';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { CloudDownload, FlaskConical, Pencil, Power, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useOnce } from '../../../hooks/once.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Button, LinkButton } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Menu } from '../../../ui/floating/Menu.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import { DescriptionList } from '../../../ui/page/DescriptionList.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded, PageSkeleton } from '../../../ui/page/States.tsx';
import { type Column, DataTable } from '../../../ui/table/DataTable.tsx';
import { EditPull } from './PullForm.tsx';
import shared from '../runs.module.css';
import css from './pulls.module.css';
import { FetchState, fetchText, PullState, useTimes } from './texts.tsx';

export function PullPage() {
  const t = useText();
  const { pullId } = useParams({ strict: false }) as { pullId: string };
  const [everyMs, setEvery] = useState(2_000);
  const response = useData('GET /pulls/{pullId}', { params: { pullId } }, { everyMs });
  const wanted = response.data && isBusy(response.data) ? 2_000 : 5_000;
  if (response.data && wanted !== everyMs) setEvery(wanted);
  const crumbs = [{ label: t('pulls.title'), to: '/pulls' }];
  return (
    <Loaded response={response} skeleton={<PageSkeleton crumbs={crumbs} />}>
      {(pull) => (
        <Page
          title={pull.name}
          crumbs={crumbs}
          subtitle={<PullState {...pull} />}
          actions={<Actions pull={pull} />}
        >
          <Facts pull={pull} />
          <Attempts pull={pull} />
        </Page>
      )}
    </Loaded>
  );
}

/** Whether the list is being fetched, or its file is being processed. */
const isBusy = ({ isUnderWay, last }: PullView): boolean =>
  isUnderWay ||
  (last !== null && last.outcome === 'stored' && last.fileId !== null && last.fileOutcome === null);

/** Returns functions that have the list fetched, and that turn the pull on or off. */
function useChanges({ id }: PullView) {
  const refresh = useRefresh();
  const params = { pullId: id };
  return {
    request: async (isDryRun: boolean) => {
      await api('POST /pulls/{pullId}/fetch', { params, body: { isDryRun } });
      await refresh('GET /pulls', 'GET /pulls/{pullId}');
    },
    turn: async (isOn: boolean) => {
      await api('PATCH /pulls/{pullId}', { params, body: { isOn } });
      await refresh('GET /pulls', 'GET /pulls/{pullId}');
    },
  };
}

function Actions({ pull }: { pull: PullView }) {
  const t = useText();
  const toast = useToast();
  const { busy, once } = useOnce();
  const [open, setOpen] = useState<'edit' | 'fetch' | 'off' | 'remove'>();
  const { request } = useChanges(pull);
  const close = () => setOpen(undefined);
  const dryRun = async () => {
    await request(true);
    toast({ text: t('pulls.dryRunStarted') });
  };
  return (
    <>
      <Button icon={FlaskConical} busy={busy} disabled={pull.isUnderWay} onClick={() => once(dryRun)}>
        {t('pulls.dryRun')}
      </Button>
      <Button icon={Pencil} onClick={() => setOpen('edit')}>
        {t('pulls.edit')}
      </Button>
      <Menu
        label={t('pulls.more')}
        items={[
          { label: t('pulls.fetchNow'), icon: CloudDownload, onSelect: () => setOpen('fetch') },
          pull.isOn && { label: t('pulls.turnOff'), icon: Power, onSelect: () => setOpen('off') },
          'line',
          { label: t('pulls.remove'), icon: Trash2, danger: true, onSelect: () => setOpen('remove') },
        ]}
      />
      {open === 'edit' && <EditPull pull={pull} onClose={close} />}
      {open === 'fetch' && <FetchingNow pull={pull} onClose={close} />}
      {open === 'off' && <TurningOff pull={pull} onClose={close} />}
      {open === 'remove' && <Removing pull={pull} onClose={close} />}
    </>
  );
}

function Facts({ pull }: { pull: PullView }) {
  const t = useText();
  const { time, day } = useFormat();
  const timesOf = useTimes();
  const { url, list, access, nextAt, createdAt, createdBy } = pull;
  const who = access.user ?? access.clientId ?? access.header;
  return (
    <Section title={t('pulls.pull')}>
      <div className={css['facts']}>
        <NextStep pull={pull} />
        <DescriptionList
          items={[
            [t('pulls.url'), <code key="url">{url}</code>],
            [t('pulls.list'), list === '' ? undefined : <code key="list">{list}</code>],
            [t('pulls.access'), [t(`pulls.access.${access.kind}`), who].filter(Boolean).join(' · ')],
            [t('pulls.repeat'), timesOf(pull)],
            [t('pulls.next'), nextAt === null ? undefined : time(nextAt)],
            [t('pulls.createdAt'), [day(createdAt), createdBy].filter(Boolean).join(', ')],
          ]}
        />
      </div>
    </Section>
  );
}

/** Says what happens or what to do next: the dry run, turning on, or fixing what fails. */
function NextStep({ pull }: { pull: PullView }) {
  const t = useText();
  const { bytes, time } = useFormat();
  const { busy, once } = useOnce();
  const { turn } = useChanges(pull);
  const { last, isOn, isTried, failingSince } = pull;
  if (isBusy(pull))
    return (
      <Notice live title={t('pulls.busyTitle')}>
        {t('pulls.busyText')}
      </Notice>
    );
  const toFile = last?.fileId ? (
    <LinkButton to={`/files/${last.fileId}`}>{t('pulls.toFile')}</LinkButton>
  ) : undefined;
  if (last?.outcome === 'failed' && (failingSince !== null || !isTried))
    return (
      <Notice
        tone="bad"
        title={
          failingSince === null
            ? t('pulls.failedTitle')
            : t('pulls.failingTitle', { time: time(failingSince) })
        }
      >
        {fetchText(t, last, bytes)}
      </Notice>
    );
  if (isOn) return null;
  if (!isTried && (last?.fileOutcome === 'refused' || last?.fileOutcome === 'failed'))
    return (
      <Notice tone="warn" title={t('pulls.notTriedTitle')} actions={toFile}>
        {t('pulls.notTriedText')}
      </Notice>
    );
  if (!isTried) return <Notice title={t('pulls.tryTitle')}>{t('pulls.tryText')}</Notice>;
  return (
    <Notice
      title={t('pulls.triedTitle')}
      actions={
        <>
          <Button kind="primary" busy={busy} onClick={() => once(() => turn(true))}>
            {t('pulls.turnOn')}
          </Button>
          {toFile}
        </>
      }
    >
      {t('pulls.triedText')}
    </Notice>
  );
}

function Attempts({ pull: { fetches } }: { pull: PullView }) {
  const t = useText();
  const { time, bytes } = useFormat();
  const columns: Column<FetchRow>[] = [
    {
      key: 'at',
      title: t('pulls.at'),
      width: 'minmax(120px, 1fr)',
      cell: ({ at, reason, by }) => (
        <span className={shared['two']}>
          <span>{time(at)}</span>
          <small className={shared['soft']}>
            {[t(`pulls.reason.${reason}`), by].filter(Boolean).join(' · ')}
          </small>
        </span>
      ),
    },
    {
      key: 'outcome',
      title: t('pulls.outcome'),
      width: 'minmax(140px, 2.4fr)',
      cell: (fetch) => (
        <span className={shared['two']}>
          <FetchState fetch={fetch} />
          <small className={shared['soft']} title={fetchText(t, fetch, bytes)}>
            {fetchText(t, fetch, bytes)}
          </small>
        </span>
      ),
    },
    {
      key: 'file',
      title: t('pulls.file'),
      width: 110,
      wideOnly: true,
      cell: ({ fileId }) => (fileId === null ? '' : <Link to={`/files/${fileId}`}>{t('pulls.toFile')}</Link>),
    },
  ];
  return (
    <Section flush title={t('pulls.attempts')} description={t('pulls.attemptsText')}>
      <DataTable
        label={t('pulls.attempts')}
        columns={columns}
        rows={fetches}
        rowKey={({ id }) => id}
        rowHeight={60}
        empty={<Empty icon={CloudDownload} title={t('pulls.noneTitle')} text={t('pulls.noneText')} />}
      />
    </Section>
  );
}

type DialogProps = { pull: PullView; onClose: () => void };

function FetchingNow({ pull, onClose }: DialogProps) {
  const t = useText();
  const { request } = useChanges(pull);
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('pulls.fetchTitle')}
      text={<p>{t('pulls.fetchText')}</p>}
      confirm={t('pulls.fetchNow')}
      onConfirm={async () => {
        await request(false);
        return t('pulls.fetchStarted');
      }}
    />
  );
}

function TurningOff({ pull, onClose }: DialogProps) {
  const t = useText();
  const { turn } = useChanges(pull);
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('pulls.turnOffTitle')}
      text={<p>{t('pulls.turnOffText')}</p>}
      confirm={t('pulls.turnOff')}
      onConfirm={async () => {
        await turn(false);
        return t('pulls.turnedOff');
      }}
    />
  );
}

function Removing({ pull: { id }, onClose }: DialogProps) {
  const t = useText();
  const refresh = useRefresh();
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      danger
      onClose={onClose}
      title={t('pulls.removeTitle')}
      text={<p>{t('pulls.removeText')}</p>}
      confirm={t('pulls.remove')}
      onConfirm={async () => {
        await api('DELETE /pulls/{pullId}', { params: { pullId: id } });
        await navigate({ to: '/pulls' });
        await refresh('GET /pulls');
        return t('pulls.removed');
      }}
    />
  );
}
