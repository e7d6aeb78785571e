// A schedule: its fields, what it does, and its past weeks. Also the page for a new schedule.
import type { Library, ScheduleView, Schedules } from '@soundings/contract/console/asking.ts';
import { useNavigate, useParams } from '@tanstack/react-router';
import { Eye, Pause, Play, Send, Trash2, Zap } from 'lucide-react';
import { useState } from 'react';
import { api, isConflict } from '../../../api.ts';
import { useErrorToast } from '../../../hooks/error-toast.ts';
import { useOnce } from '../../../hooks/once.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button, LinkButton } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Form, useForm } from '../../../ui/form/Form.tsx';
import { Menu } from '../../../ui/floating/Menu.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded, NotFound } from '../../../ui/page/States.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import css from '../asking.module.css';
import { Calendar } from './Calendar.tsx';
import { ScheduleEffect } from './ScheduleEffect.tsx';
import { ScheduleFields } from './ScheduleFields.tsx';
import { scheduleBodyOf, scheduleDraftOf, emptyDraft, type ScheduleDraft } from './schedule-draft.ts';
import { AskNowDialog } from './AskNowDialog.tsx';
import { TestMailDialog } from './TestMailDialog.tsx';
import { useRepetition } from '../texts.ts';

export function SchedulePage() {
  const { scheduleId } = useParams({ strict: false }) as { scheduleId: string };
  const library = useData('GET /library');
  const response = useData('GET /schedules');
  return (
    <Loaded response={library}>
      {(all) => (
        <Loaded response={response}>
          {(data) => {
            const schedule = data.schedules.find(({ id }) => String(id) === scheduleId);
            return schedule ? (
              <Editor key={schedule.id} schedule={schedule} data={data} library={all} />
            ) : (
              <NotFound />
            );
          }}
        </Loaded>
      )}
    </Loaded>
  );
}

type EditorProps = { schedule: ScheduleView; data: Schedules; library: Library };

function Editor({ schedule, data, library }: EditorProps) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  const repetition = useRepetition();
  const [version, setVersion] = useState(schedule.version);
  const form = useForm<ScheduleDraft, { version: string }>({
    initial: scheduleDraftOf(schedule),
    submit: (draft) =>
      api('PUT /schedules/{scheduleId}', {
        params: { scheduleId: schedule.id },
        body: { ...scheduleBodyOf(draft), version },
      }).catch(async (error: unknown) => {
        if (isConflict(error)) await refresh('GET /schedules');
        throw error;
      }),
    onDone: (saved) => {
      setVersion(saved.version);
      toast({ text: t('asking.saved') });
      void refresh('GET /schedules', 'GET /rounds', 'GET /library');
    },
  });
  const discard = () => {
    form.reset(scheduleDraftOf(schedule));
    setVersion(schedule.version);
  };
  return (
    <Page
      title={schedule.name}
      crumbs={[{ label: t('asking.schedules'), to: '/schedules' }]}
      subtitle={
        <span className={css['inline']}>
          {repetition(schedule)}
          {schedule.isPaused && <Badge tone="warn">{t('asking.paused')}</Badge>}
        </span>
      }
      actions={<Actions schedule={schedule} hasMail={data.hasMail} />}
    >
      <div className={css['columns']}>
        <div className={css['main']}>
          <Section title={t('asking.calendar')} description={t('asking.calendarText')} flush>
            <Calendar data={data} schedules={[schedule]} />
          </Section>
          <div className={css['divided']}>
            <Form form={form} actions={<Foot {...form} discard={discard} />}>
              <ScheduleFields form={form} library={library} />
            </Form>
          </div>
        </div>
        <ScheduleEffect
          draft={form.values}
          scheduleId={schedule.id}
          library={library}
          isPaused={schedule.isPaused}
        />
      </div>
    </Page>
  );
}

function Foot({ busy, isDirty, discard }: { busy: boolean; isDirty: boolean; discard: () => void }) {
  const t = useText();
  return (
    <span className={css['inline']}>
      <Button type="submit" kind="primary" busy={busy} disabled={!isDirty}>
        {t('action.save')}
      </Button>
      {isDirty && <Button onClick={discard}>{t('asking.discard')}</Button>}
      <span className={css['small']}>{t('asking.opensOn')}</span>
    </span>
  );
}

function Actions({ schedule, hasMail }: { schedule: ScheduleView; hasMail: boolean }) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  const showErrorOf = useErrorToast();
  const { busy, once } = useOnce();
  const navigate = useNavigate();
  const [shown, setShown] = useState<'ask' | 'test' | 'remove'>();
  const { id, isPaused, name } = schedule;
  const close = () => setShown(undefined);
  const pause = async (to: boolean) => {
    await api('PUT /schedules/{scheduleId}/paused', { params: { scheduleId: id }, body: { isPaused: to } });
    toast({
      text: t(to ? 'asking.isPaused' : 'asking.isResumed', { name }),
      undo: () => showErrorOf(pause(!to)),
    });
    await refresh('GET /schedules', 'GET /rounds');
  };
  const remove = async () => {
    await api('DELETE /schedules/{scheduleId}', { params: { scheduleId: id } });
    await navigate({ to: '/schedules' });
    await refresh('GET /schedules', 'GET /rounds', 'GET /library');
    return t('asking.isRemoved', { name });
  };
  return (
    <>
      <Button icon={Zap} onClick={() => setShown('ask')}>
        {t('ask.button')}
      </Button>
      <Button icon={Send} onClick={() => setShown('test')}>
        {t('asking.testMail')}
      </Button>
      <Button icon={isPaused ? Play : Pause} busy={busy} onClick={() => once(() => pause(!isPaused))}>
        {t(isPaused ? 'asking.resume' : 'asking.pause')}
      </Button>
      <Menu
        label={t('action.more')}
        items={[
          { label: t('asking.seePage'), icon: Eye, to: `/schedules/${id}/preview` },
          'line',
          { label: t('asking.remove'), icon: Trash2, danger: true, onSelect: () => setShown('remove') },
        ]}
      />
      {shown === 'ask' && <AskNowDialog scheduleId={id} name={name} onClose={close} />}
      {shown === 'test' && <TestMailDialog scheduleId={id} hasMail={hasMail} onClose={close} />}
      <ConfirmDialog
        open={shown === 'remove'}
        onClose={close}
        title={t('asking.removeTitle', { name })}
        text={t('asking.removeText')}
        confirm={t('asking.removeSchedule')}
        danger
        onConfirm={remove}
      />
    </>
  );
}

export function NewSchedulePage() {
  const library = useData('GET /library');
  const response = useData('GET /schedules');
  return (
    <Loaded response={library}>
      {(all) => (
        <Loaded response={response}>{({ today }) => <NewEditor library={all} today={today} />}</Loaded>
      )}
    </Loaded>
  );
}

function NewEditor({ library, today }: { library: Library; today: string }) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  const navigate = useNavigate();
  const form = useForm<ScheduleDraft, { id: number }>({
    initial: emptyDraft(today),
    submit: (draft) => api('POST /schedules', { body: scheduleBodyOf(draft) }),
    onDone: ({ id }, { name }) => {
      toast({ text: t('asking.scheduleCreated', { name }) });
      void refresh('GET /schedules', 'GET /rounds').then(() => navigate({ to: `/schedules/${id}` }));
    },
  });
  return (
    <Page title={t('asking.newSchedule')} crumbs={[{ label: t('asking.schedules'), to: '/schedules' }]}>
      <div className={css['columns']}>
        <div className={css['main']}>
          <Form
            form={form}
            actions={
              <>
                <Button type="submit" kind="primary" busy={form.busy}>
                  {t('asking.createSchedule')}
                </Button>
                <LinkButton to="/schedules">{t('action.cancel')}</LinkButton>
              </>
            }
          >
            <ScheduleFields form={form} library={library} />
          </Form>
        </div>
        <ScheduleEffect draft={form.values} library={library} />
      </div>
    </Page>
  );
}
