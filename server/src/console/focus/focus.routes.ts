// The console: what groups work on. Everyone who sees a group's results sees its focus; its owners and administrators change it.
import type { Focus, GroupFocus } from '@soundings/contract/console/focus.ts';
import { isScaled } from '@soundings/contract/question-types.ts';
import { dayIn } from '@soundings/contract/weeks.ts';
import type { AuditAction } from '@soundings/contract/audit-actions.ts';
import { audit } from '../../accounts/audit.ts';
import { type Db, inTransaction, type Pool } from '../../db/db.ts';
import { isCheckInDue } from '../../focus/focus-states.ts';
import {
  applyToFocus,
  createFocus,
  type FocusActor,
  focusNotFound,
  termsIn,
  type WantedChange,
} from '../../focus/focus.ts';
import {
  type FocusEventRow,
  type FocusRow,
  selectFocusCounts,
  selectFocuses,
  selectFocusEvents,
} from '../../focus/focus.sql.ts';
import { suggestionsIn } from '../../focus/suggestions.ts';
import { selectKpis, selectQuestions } from '../../questions/questions.sql.ts';
import { kpiNameIn } from '../../questions/questions.ts';
import { actorOf, type Console, missingRole, type Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';
import { openGroups, ownsGroup, rejectClosedGroup } from '../groups/open-groups.ts';
import { groupNamed, headOf, readGroups } from '../results/reading.ts';

/** How many focuses that are done or stopped a page shows. */
const closedShown = 10;

export function serveFocus(console: Console, pool: Promise<Pool>, now: () => number): void {
  console.serve('GET /focus', async (who) => selectFocusCounts(await pool, who.accountId, now()));

  console.serve('GET /focus/groups/{groupId}', async (who, { params, query }) =>
    focusOf(await pool, who, params.groupId, { language: query.language ?? 'en', now: now() }),
  );

  console.serve('POST /focus/groups/{groupId}', async (who, { params, body }) =>
    inTransaction(await pool, async (tx) => {
      const groupId = idIn(params.groupId);
      await refuseForeignGroup(tx, who, groupId);
      const id = await createFocus(tx, actingAs(who, now()), { ...body, groupId });
      const details = { kind: body.kind, id: body.subject };
      await audit(tx, who.accountId, actorOf(who), 'focus created', { subject: groupId, details });
      return { id };
    }),
  );

  /** Applies a change and writes it to the audit log, without its texts, which may name people. */
  const change = async (
    who: Who,
    focusId: string,
    wanted: WantedChange,
    action: AuditAction,
  ): Promise<void> =>
    inTransaction(await pool, async (tx) => {
      const actor = actingAs(who, now());
      const { groupId, kpiId, questionId } = await applyToFocus(
        tx,
        actor,
        idIn(focusId),
        wanted,
        async (group) => {
          if ((await openGroups(tx, who))?.has(group) === false) throw focusNotFound();
          await refuseForeignGroup(tx, who, group);
        },
      );
      const about = { kind: kpiId === null ? 'question' : 'kpi', id: kpiId ?? String(questionId) };
      const how = action === 'focus checked in' ? { how: wanted.change } : {};
      await audit(tx, who.accountId, actorOf(who), action, {
        subject: groupId,
        details: { ...about, ...how },
      });
    });

  console.serve('PATCH /focus/{focusId}', async (who, { params, body }) =>
    change(who, params.focusId, { change: 'changed', terms: body }, 'focus changed'),
  );
  console.serve('POST /focus/{focusId}/check-in', async (who, { params, body: { outlook, note } }) =>
    change(who, params.focusId, { change: outlook, note }, 'focus checked in'),
  );
  console.serve('POST /focus/{focusId}/stop', async (who, { params, body: { note } }) =>
    change(who, params.focusId, { change: 'stopped', note }, 'focus stopped'),
  );
  console.serve('POST /focus/{focusId}/reopen', async (who, { params, body: { note } }) =>
    change(who, params.focusId, { change: 'reopened', note }, 'focus reopened'),
  );
}

const actingAs = ({ accountId, userId, timezone }: Who, now: number): FocusActor => ({
  accountId,
  userId,
  now,
  today: dayIn(timezone, now),
});

/** Throws a Fault if the caller may not see a group, or sees it but may not act for it. */
async function refuseForeignGroup(db: Db, who: Who, groupId: number): Promise<void> {
  await rejectClosedGroup(db, who, groupId);
  if (await ownsGroup(db, who, groupId)) return;
  throw missingRole('You can see this group, but only its owners and administrators can change its focus.');
}

async function focusOf(
  pool: Pool,
  who: Who,
  groupId: string,
  { language, now }: { language: string; now: number },
): Promise<GroupFocus> {
  const { accountId, timezone } = who;
  const group = groupNamed(await readGroups(pool, who, [idIn(groupId)]), groupId);
  const [rows, kpis, questions, canEdit] = await Promise.all([
    selectFocuses(pool, accountId, [group.id], closedShown),
    selectKpis(pool, accountId),
    selectQuestions(pool, accountId),
    ownsGroup(pool, who, group.id),
  ]);
  const events = await selectFocusEvents(
    pool,
    accountId,
    rows.map(({ id }) => id),
  );
  const nameOf = subjectNames({ kpis, questions }, language);
  const today = dayIn(timezone, now);
  return {
    group: headOf(group),
    canEdit,
    focuses: rows.map((row) => ({
      ...shown(
        row,
        events.filter(({ focusId }) => focusId === row.id),
      ),
      subject: nameOf(row),
      isDue: row.state === 'open' && isCheckInDue(row.checkedAt.getTime(), now),
      isLate: row.state === 'open' && row.until < today,
    })),
    kpis: kpis
      .filter(({ questionIds }) => questionIds.length > 0)
      .map((kpi) => ({ id: kpi.id, name: kpiNameIn(kpi, language) })),
    questions: questions
      .filter(({ type, retiredAt }) => isScaled(type) && retiredAt === null)
      .map((question) => ({
        id: String(question.id),
        text: question.translations[language] ?? question.text,
        kpiIds: kpis.filter(({ questionIds }) => questionIds.includes(question.id)).map(({ id }) => id),
      })),
    suggestions: suggestionsIn(language),
  };
}

const shown = (
  row: FocusRow,
  events: readonly FocusEventRow[],
): Omit<Focus, 'subject' | 'isDue' | 'isLate'> => ({
  id: row.id,
  ...termsIn(row),
  state: row.state,
  outlook: row.outlook,
  createdAt: row.createdAt.toISOString(),
  history: events.map(({ id, kind, at, who, note, terms }) => ({
    id,
    kind,
    at: at.toISOString(),
    who,
    note,
    terms,
  })),
});

/** Returns a function that names what a focus is about, in a language. */
function subjectNames(
  {
    kpis,
    questions,
  }: { kpis: Awaited<ReturnType<typeof selectKpis>>; questions: Awaited<ReturnType<typeof selectQuestions>> },
  language: string,
): (row: Pick<FocusRow, 'kpiId' | 'questionId'>) => Focus['subject'] {
  return ({ kpiId, questionId }) => {
    if (kpiId !== null) {
      const kpi = kpis.find(({ id }) => id === kpiId);
      return { kind: 'kpi', id: kpiId, name: kpi ? kpiNameIn(kpi, language) : kpiId, isRetired: false };
    }
    const question = questions.find(({ id }) => id === questionId);
    const name = question ? (question.translations[language] ?? question.text) : '';
    return { kind: 'question', id: String(questionId), name, isRetired: question?.retiredAt !== null };
  };
}
