// What an account needs to become the demo company, and its half a year of weeks: for the demo, and for the template of sandboxes.
import type { Week } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount } from '../accounts/accounts.ts';
import { updateStartDismissed } from '../accounts/accounts.sql.ts';
import { newId } from '../base/ids.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { createUser } from '../people/users.ts';
import { allowNotApplicable, defineLibrary } from '../questions/questions.ts';
import { selectKpis, selectQuestions } from '../questions/questions.sql.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { selectRounds } from '../rounds/rounds.sql.ts';
import { createSchedule } from '../rounds/schedules.ts';
import { selectSchedules } from '../rounds/schedules.sql.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { pulseOf, type ServeAnswering, simulate } from '../simulation/simulation.ts';
import { pushOrganization } from '../sync/push.ts';
import { type DemoCompany, demoAttribute, notForEveryone, otherSchedules } from './company.ts';
import { selectTopGroup } from './demo.sql.ts';

/** The time zone of the demo company, and the email address of its administrator. */
export const [demoTimezone, demoAdministrator] = ['Europe/Stockholm', 'demo@lavmark.example'];

/** The seed of the demo company's answers, and the share of people who answer. */
export const demoPlot = { seed: 1, rate: 0.82 };

/** Gives a new account what the demo company has besides its people: an attribute, an administrator, and questions. */
export async function equip(tx: Transaction, id: AccountId): Promise<void> {
  const { language } = await accountById(tx, id);
  const { values: allowedValues } = demoAttribute;
  await defineAttribute(tx, id, { name: demoAttribute.name, allowedValues });
  await createUser(tx, id, {
    firstName: 'Demo',
    lastName: 'Administrator',
    email: demoAdministrator,
    role: 'Administrator',
  });
  await defineLibrary(tx, id, language);
  await allowNotApplicable(tx, id, notForEveryone, true);
  await updateStartDismissed(tx, id, true);
}

/**
 * Simulates the missing weeks: all weeks or, after an interruption, the weeks after the last simulated one. `onWeek` is called before each.
 */
export async function fillDemo(
  pool: Pool,
  keys: AnswerKeys,
  id: AccountId,
  company: DemoCompany,
  { now, serve, onWeek }: { now: number; serve: ServeAnswering; onWeek?: (week: Week) => Promise<void> },
): Promise<void> {
  const asked = new Set((await selectRounds(pool, id)).map(({ week }) => week));
  if (asked.size >= company.weeks.length) return;
  const missing = company.weeks.slice(company.weeks.findLastIndex((week) => asked.has(week)) + 1);
  const [first] = missing;
  if (first === undefined) return;
  await push(pool, id, company, first);
  await createSchedules(pool, id, first);
  const { character } = company;
  const before = async (week: Week) => {
    await onWeek?.(week);
    await push(pool, id, company, week);
  };
  await simulate(pool, keys, id, { ...demoPlot, weeks: missing.length, now, serve, character, before });
  await push(pool, id, company, undefined);
}

/** Pushes the organization as it is in a week, or now. */
async function push(pool: Pool, id: AccountId, company: DemoCompany, week: Week | undefined): Promise<void> {
  const run = { id: newId(), source: 'api' as const, tokenId: null, address: null, file: null };
  const bytes = Buffer.from(JSON.stringify(company.organizationIn(week)));
  await pushOrganization(pool, id, run, { bytes, gzip: false }, { deleteGroupResults });
}

/** Creates a pulse of all KPIs, and schedules for questions that belong to no KPI. */
async function createSchedules(pool: Pool, id: AccountId, first: Week): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, id);
    if ((await selectSchedules(tx, id)).length > 0) return;
    const groupIds = [await selectTopGroup(tx, id)];
    const kpiIds = (await selectKpis(tx, id)).map((kpi) => kpi.id);
    const pulse = pulseOf({ groupIds, kpiIds, perWeek: 5 }, first);
    await createSchedule(tx, id, pulse);
    const idOf = new Map((await selectQuestions(tx, id)).map((question) => [question.key, question.id]));
    for (const { questions, ...schedule } of otherSchedules(first)) {
      const questionIds = questions.map((key) => idOf.get(key) as number);
      const fixed = { kpiIds: [], perWeek: null, everyWeeks: null, questionIds };
      await createSchedule(tx, id, { ...pulse, ...fixed, ...schedule });
    }
  });
}
