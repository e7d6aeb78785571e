// The dialog to ask the questions of a schedule immediately: who is asked, what, and how long they can answer. Its texts are loaded with every page, because
// the first steps show it as well.
import type { AskNow } from '@soundings/contract/console/start.ts';
import { Send } from 'lucide-react';
import { api } from '../../../api.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Confirm, PlanDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';

type AskNowDialogProps = { scheduleId: number; name: string; onClose: () => void };

export function AskNowDialog({ scheduleId, name, onClose }: AskNowDialogProps) {
  const t = useText();
  const refresh = useRefresh();
  const params = { scheduleId };
  const plan = useData('POST /schedules/{scheduleId}/ask', { params, body: { isPreview: true } });
  async function ask({ version }: AskNow): Promise<string> {
    const asked = await api('POST /schedules/{scheduleId}/ask', {
      params,
      body: { isPreview: false, version },
    }).catch(async (error: unknown) => {
      await plan.refetch();
      throw error;
    });
    await refresh('GET /start', 'GET /schedules', 'GET /rounds', 'GET /results');
    return t('ask.done', { count: asked.people });
  }
  return (
    <PlanDialog plan={plan} onClose={onClose} title={t('ask.title', { name: plan.data?.name ?? name })}>
      {(data) => (
        <Confirm
          staysWhileBusy
          onClose={onClose}
          text={<Plan plan={data} />}
          icon={Send}
          confirm={canAsk(data) ? t('ask.confirm', { count: data.people }) : undefined}
          onConfirm={() => ask(data)}
        />
      )}
    </PlanDialog>
  );
}

const canAsk = ({ isAsked, isTooLate, reachable, people, questions, minPeople }: AskNow) =>
  !isAsked && !(isTooLate && reachable === people) && people >= (minPeople ?? 1) && questions > 0;

function Plan({ plan }: { plan: AskNow }) {
  const t = useText();
  const { time } = useFormat();
  const { people, reachable, questions, groups, without, endsAt, hasMail, isAsked, isTooLate, minPeople } =
    plan;
  if (isAsked) return <p>{t('ask.isAsked')}</p>;
  if (minPeople !== null && people < minPeople)
    return <p>{t('ask.tooFewDue', { count: people, minimum: minPeople })}</p>;
  if (people === 0) return <p>{t('ask.noPeople')}</p>;
  if (questions === 0) return <p>{t('ask.noQuestions')}</p>;
  if (isTooLate && reachable === people) return <p>{t('ask.isTooLate')}</p>;
  const unreachable = hasMail ? people - reachable : people;
  return (
    <>
      <p>{t('ask.text', { count: people, questions: t('ask.questions', { count: questions }) })}</p>
      <p>
        {t('ask.groups', { groups: groups.join(', ') })}
        {without.length > 0 && ` ${t('ask.without', { groups: without.join(', ') })}`}
      </p>
      <p>{t('ask.until', { time: time(endsAt) })}</p>
      {isTooLate && <Notice tone="warn">{t('ask.isTooLate')}</Notice>}
      {unreachable > 0 && (
        <Notice tone="warn">{t(hasMail ? 'ask.unreachable' : 'ask.noMail', { count: unreachable })}</Notice>
      )}
    </>
  );
}
