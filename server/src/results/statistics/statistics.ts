// Computes the statistics of weeks after their figures are published: reads published figures, and writes a few parameters per question
// and KPI (docs/administrators/statistics.md). Closing a week never waits for it.
import type { QuestionType } from '@soundings/contract/question-types.ts';
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount } from '../../accounts/accounts.ts';
import { raiseVersion } from '../../accounts/accounts.sql.ts';
import { type AccountId, type Db, inTransaction, type Pool } from '../../db/db.ts';
import { runOneByOne } from '../../jobs/accounts-in-turn.ts';
import { selectKpis, selectQuestions } from '../../questions/questions.sql.ts';
import type { Distribution } from '../../questions/types.ts';
import { selectParents } from '../../rounds/rounds.sql.ts';
import { comparableWeeks, type Reading } from './readings.ts';
import { rotationWeeks } from './rotation.ts';
import {
  lockStatistics,
  type PublishedWeek,
  selectAccountsDue,
  selectDistributions,
  selectAsked,
  selectFigures,
  selectPublishedWeeks,
  selectRotations,
  selectStatistics,
  writeStatistics,
} from './statistics.sql.ts';
import { emptyHistory, forget, type Setting, type WeekFigures } from './history.ts';
import { recall, weekStatistics } from './week-statistics.ts';

/** Returns whether an account has weeks whose statistics have to be computed. */
export async function areStatisticsDue(pool: Pool): Promise<boolean> {
  return (await selectAccountsDue(pool)).length > 0;
}

/**
 * Computes all statistics that are due. If an account fails, the others are still computed, and the first error is thrown at the end. One
 * that others have locked for too long is left to the next call, which comes within minutes.
 */
export async function computeAllStatistics(pool: Pool): Promise<void> {
  await runOneByOne(await selectAccountsDue(pool), (accountId) => computeStatistics(pool, accountId));
}

/**
 * Computes the statistics of an account's weeks that are due, and of all weeks after them, in the order of weeks. Each week is a separate
 * transaction: if the process is killed, the next call continues. Another process that does the same waits. The pool needs two connections.
 */
export async function computeStatistics(pool: Pool, accountId: AccountId): Promise<void> {
  const failure = await inTransaction(pool, async (tx) => {
    await lockStatistics(tx, accountId);
    try {
      // A week can be published while others are computed.
      while (await computeDue(pool, accountId));
      return undefined;
    } catch (error) {
      return { error }; // It may be about another connection than that of the transaction.
    }
  });
  if (failure) throw failure.error;
}

/** Computes the weeks from the first that is due. Returns false if there was none. */
async function computeDue(pool: Pool, accountId: AccountId): Promise<boolean> {
  const weeks = await selectPublishedWeeks(pool, accountId);
  const first = weeks.findIndex(({ isComputed }) => !isComputed);
  if (first < 0) return false;
  const setting = await settingOf(pool, accountId);
  const history = emptyHistory();
  const start = addWeeks((weeks[first] as PublishedWeek).week, -comparableWeeks);
  const before = weeks.slice(0, first).filter(({ week }) => week >= start);
  const known = await selectStatistics(pool, accountId, start, before.at(-1)?.week ?? start);
  for (const statistics of known) {
    recall(history, await figuresOf(pool, accountId, statistics.week, false), statistics, setting);
  }
  for (const published of weeks.slice(first)) {
    const figures = await figuresOf(pool, accountId, published.week, true);
    const own = settingIn(published, setting);
    const statistics = weekStatistics(history, figures, own);
    forget(history, addWeeks(published.week, -comparableWeeks));
    const isWritten = await inTransaction(pool, async (tx) => {
      const written = await writeStatistics(tx, accountId, published, statistics, own.kpiWeeks);
      if (written) {
        await lockAccount(tx, accountId);
        await raiseVersion(tx, accountId);
      }
      return written;
    });
    if (!isWritten) return true;
  }
  return true;
}

async function settingOf(db: Db, accountId: AccountId): Promise<Setting> {
  const [questions, kpis, parents, kpiWeeks] = await Promise.all([
    selectQuestions(db, accountId),
    selectKpis(db, accountId),
    selectParents(db, accountId),
    kpiWeeksOf(db, accountId),
  ]);
  const types = new Map(questions.map(({ id, type }) => [id, type]));
  return {
    parentOf: (groupId) => parents.get(groupId) ?? null,
    typeOf: (questionId) => types.get(questionId) as QuestionType,
    kpis,
    kpiWeeks,
  };
}

/** Returns the setting with what is stored with a week, so that computing it again doesn't change its rolling values. */
function settingIn({ kpiWeeks, kpiQuestions }: PublishedWeek, setting: Setting): Setting {
  const stored =
    kpiQuestions && Object.entries(kpiQuestions).map(([id, questionIds]) => ({ id, questionIds }));
  return { ...setting, kpis: stored ?? setting.kpis, kpiWeeks: kpiWeeks ?? setting.kpiWeeks };
}

/** Returns how many weeks a rolling KPI value covers now: the account's setting, or what its schedules need. */
export async function kpiWeeksOf(db: Db, accountId: AccountId): Promise<number> {
  const { kpiWeeks } = await accountById(db, accountId);
  return kpiWeeks ?? rotationWeeks(await selectRotations(db, accountId));
}

async function figuresOf(
  db: Db,
  accountId: AccountId,
  week: Week,
  withDistributions: boolean,
): Promise<WeekFigures> {
  const asked = new Map((await selectAsked(db, accountId, week)).map((one) => [one.groupId, one.asked]));
  const readings = new Map<number, Map<number, Reading>>();
  for (const { groupId, questionId, ...figure } of await selectFigures(db, accountId, week)) {
    const own = readings.get(groupId) ?? new Map<number, Reading>();
    readings.set(groupId, own.set(questionId, { week, ...figure, asked: asked.get(groupId) ?? null }));
  }
  const rows = withDistributions ? await selectDistributions(db, accountId, week) : [];
  const parsed = rows.map(({ questionId, groupId, distribution }) => ({
    questionId,
    groupId,
    distribution: JSON.parse(distribution) as Distribution,
  }));
  return { week, readings, distributions: Map.groupBy(parsed, ({ questionId }) => questionId) };
}
