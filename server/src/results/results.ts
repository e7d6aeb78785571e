// What the data interface tells (§4.1): of published figures only, as text that is made while it is read, so that the
// largest answers take no more memory than the smallest.
import { dayIn } from '@soundings/contract/weeks.ts';
import { Fault } from '../base/errors.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { LongAnswer } from '../http/answers.ts';
import { questionsOf } from '../questions/questions.ts';
import {
  type KpiHead,
  type Reader,
  type Scope,
  selectAsked,
  selectComments,
  selectKpi,
  selectKpiValues,
  selectRates,
  selectReader,
  selectResults,
  selectScope,
  selectValuedKpis,
} from './results.sql.ts';
import {
  answerData,
  gathered,
  type Leaf,
  nested,
  questionList,
  valueList,
  weekKey,
  worded,
  type WordedQuestion,
} from './shape.ts';
import { lastWeeks, type Window } from './window.ts';

/** Which groups and weeks are asked for. Without a window: the latest values, or the last five weeks. */
export type Asked = { groupId: string; beneath: boolean; window: Window | undefined; now: number };

/** KPIs for which a value was ever created in the account. */
export async function valuedKpis(pool: Pool, accountId: AccountId): Promise<KpiHead[]> {
  return selectValuedKpis(pool, accountId);
}

/** The values of a KPI. Throws a Fault when the account has no such group or KPI. */
export async function tellKpiValues(
  pool: Pool,
  accountId: AccountId,
  kpiId: string,
  asked: Asked,
): Promise<LongAnswer> {
  const [{ reader, scope }, kpi] = await Promise.all([
    findScope(pool, accountId, asked),
    selectKpi(pool, accountId, kpiId),
  ]);
  if (!kpi) throw new Fault('not_found', 'kpi not found', 'There is no such KPI.');
  return longAnswer(reader, asked, async function* () {
    yield `{"kpi":${JSON.stringify(kpiOf(kpi))},"values":[`;
    yield* valueList(selectKpiValues(pool, accountId, scope, kpiId, asked.window));
    yield ']}';
  });
}

export const kpiOf = ({ id, name, imageUrl }: KpiHead) => ({
  id,
  name,
  ...(imageUrl !== null && { imageURL: imageUrl }),
});

/** The response rates. Throws a Fault when the account has no such group. */
export async function tellRates(pool: Pool, accountId: AccountId, asked: Asked): Promise<LongAnswer> {
  const { reader, scope } = await findScope(pool, accountId, asked);
  return longAnswer(reader, asked, async function* () {
    yield '[{"values":[';
    yield* valueList(selectRates(pool, accountId, scope, asked.window));
    yield ']}]';
  });
}

export type ResultsWanted = {
  questionIds: number[] | undefined;
  comments: boolean;
  granular: boolean;
  language: string | undefined;
};

/** The results of questions. Throws a Fault when the account has no such group. */
export async function tellResults(
  pool: Pool,
  accountId: AccountId,
  asked: Asked,
  wanted: ResultsWanted,
): Promise<LongAnswer> {
  const { reader, scope, questions, window } = await findQuestions(pool, accountId, asked, wanted.language);
  const { questionIds } = wanted;
  return longAnswer(reader, asked, async function* () {
    const met = new Map<number, WordedQuestion>();
    yield '[{"values":[';
    const rows = selectResults(pool, accountId, scope, window, questionIds);
    yield* nested(
      leavesOf(rows, (row) => {
        const question = questions.get(row.questionId) as WordedQuestion;
        met.set(row.questionId, question);
        return {
          keys: [String(row.questionId), String(row.groupId), weekKey(row.week)],
          text: answerData(question, row, wanted.granular),
        };
      }),
    );
    yield ']';
    if (wanted.comments) {
      yield ',"comments":[';
      yield* nested(commentLeaves(selectComments(pool, accountId, scope, window, questionIds)));
      yield ']';
    }
    yield `,"questions":${questionList(met.values())}}]`;
  });
}

/** Which questions were asked of which groups. Throws a Fault when the account has no such group. */
export async function tellAsked(
  pool: Pool,
  accountId: AccountId,
  asked: Asked,
  language: string | undefined,
): Promise<LongAnswer> {
  const { reader, scope, questions, window } = await findQuestions(pool, accountId, asked, language);
  return longAnswer(reader, asked, async function* () {
    const met = new Set<number>();
    yield '[{"askedquestions":[';
    yield* nested(
      leavesOf(selectAsked(pool, accountId, scope, window), ({ groupId, week, questionIds }) => {
        for (const id of questionIds) met.add(id);
        return { keys: [String(groupId), weekKey(week)], text: JSON.stringify(questionIds) };
      }),
    );
    const known = [...met].toSorted((a, b) => a - b).map((id) => questions.get(id) as WordedQuestion);
    yield `],"questions":${questionList(known)}}]`;
  });
}

async function* leavesOf<T>(batches: AsyncIterable<T[]>, leafOf: (row: T) => Leaf): AsyncGenerator<Leaf[]> {
  for await (const rows of batches) yield rows.map(leafOf);
}

/** The comments of a question, group and week as one leaf, also where a batch ends among them. */
async function* commentLeaves(batches: ReturnType<typeof selectComments>): AsyncGenerator<Leaf[]> {
  let keys: string[] = [];
  let texts: string[] = [];
  const leaf = () => ({ keys, text: JSON.stringify(texts) });
  for await (const rows of batches) {
    const leaves: Leaf[] = [];
    for (const { questionId, groupId, week, text } of rows) {
      const next = [String(questionId), String(groupId), weekKey(week)];
      if (texts.length > 0 && next.join() !== keys.join()) {
        leaves.push(leaf());
        texts = [];
      }
      keys = next;
      texts.push(text);
    }
    yield leaves;
  }
  if (texts.length > 0) yield [leaf()];
}

/** The group asked for. What is no number, or another account's, is not found in the same words. */
export async function findScope(
  pool: Pool,
  accountId: AccountId,
  { groupId, beneath }: { groupId: string | undefined; beneath: boolean },
): Promise<{ reader: Reader; scope: Scope }> {
  if (groupId === undefined) {
    return { reader: await selectReader(pool, accountId), scope: { groupId, beneath } };
  }
  const isId = /^[1-9]\d{0,9}$/.test(groupId) && Number(groupId) < 2 ** 31;
  const scope = { groupId: isId ? Number(groupId) : 0, beneath };
  const [reader, groups] = await Promise.all([
    selectReader(pool, accountId),
    selectScope(pool, accountId, { ...scope, beneath: false }),
  ]);
  if (groups.length === 0) throw new Fault('not_found', 'group not found', 'There is no such group.');
  return { reader, scope };
}

async function findQuestions(pool: Pool, accountId: AccountId, asked: Asked, language: string | undefined) {
  const [{ reader, scope }, questions] = await Promise.all([
    findScope(pool, accountId, asked),
    questionsOf(pool, accountId),
  ]);
  return {
    reader,
    scope,
    questions: new Map(questions.map((question) => [question.id, worded(question, language)])),
    window: asked.window ?? lastWeeks(dayIn(reader.timezone, asked.now)),
  };
}

const longAnswer = (reader: Reader, asked: Asked, tell: () => AsyncIterable<string>) =>
  new LongAnswer(tagOf(reader, asked), () => gathered(tell()));

/** Changes with every write of the account, and from week to week where the weeks asked for do. */
export function tagOf({ version, timezone }: Reader, { window, now }: Pick<Asked, 'window' | 'now'>): string {
  return window ? version : `${version}-${lastWeeks(dayIn(timezone, now)).last}`;
}
