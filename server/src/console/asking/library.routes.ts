// The console: the question library, and KPIs.
import type { KpiView, LibraryQuestion, QuestionView } from '@soundings/contract/console/asking.ts';
import { accountById, lockAccount } from '../../accounts/accounts.ts';
import type { AuditAction } from '@soundings/contract/audit-actions.ts';
import { audit } from '../../accounts/audit.ts';
import { type Db, inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import {
  type Kpi,
  type NewQuestion,
  type Question,
  selectKpis,
  selectQuestions,
} from '../../questions/questions.sql.ts';
import {
  addQuestion,
  changeQuestion,
  questionNotFound,
  retireQuestion,
  saveKpi,
} from '../../questions/questions.ts';
import { type Schedule, selectSchedules } from '../../rounds/schedules.sql.ts';
import {
  type AskedInWeek,
  selectAskedIn,
  selectAskedWeekCounts,
  selectGroupNames,
  selectKpisWithValues,
} from './asking.sql.ts';
import { languagesIn, named, spokenIn, questionTextsOf } from './question-texts.ts';
import { pageTexts } from '../../answers/page-texts.ts';
import { actorOf, type Console, type Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';
import { rejectChanged, versionOf } from '../core/versions.ts';

/** How many of the last weeks that asked a question are shown. */
const weeksShown = 60;

export function serveLibrary(console: Console, pool: Promise<Pool>): void {
  console.serve('GET /library', async (who) => {
    const db = await pool;
    const { questions, kpis } = await libraryOf(db, who);
    const { language } = await accountById(db, who.accountId);
    const languages = new Set(questions.flatMap((question) => [...question.languages, ...question.partly]));
    return {
      questions,
      kpis: kpis.map(({ id, name, translations }) => ({ id, name, translations })),
      language,
      languages: [...languages].toSorted(),
    };
  });
  console.serve('GET /library/texts', async () =>
    Object.fromEntries(pageTexts.languages.map((language) => [language, spokenIn(language)])),
  );
  console.serve('GET /library/questions/{questionId}', async (who, { params }) =>
    questionPage(await pool, who, idIn(params.questionId)),
  );
  console.serve('POST /library/questions', async (who, { body: { kpiIds, ...question } }) => {
    const id = await write(await pool, who, async (tx) => {
      const questionId = await addQuestion(tx, who.accountId, question as NewQuestion, kpiIds);
      return {
        action: 'question created',
        subject: question.key,
        details: { id: questionId, kpiIds },
        result: questionId,
      };
    });
    return { id };
  });
  console.serve('PUT /library/questions/{questionId}', async (who, { params, body }) => {
    const { version, ...texts } = body;
    const id = idIn(params.questionId);
    return write(await pool, who, async (tx) => {
      rejectChanged(version, await changeableTexts(tx, who, id));
      const isChanged = await changeQuestion(
        tx,
        who.accountId,
        id,
        texts as Pick<NewQuestion, ChangeableField>,
      );
      const result = { version: versionOf(await changeableTexts(tx, who, id)) };
      return { action: 'question changed', subject: id, isChanged, result };
    });
  });
  console.serve('PUT /library/questions/{questionId}/retired', async (who, { params, body }) => {
    const id = idIn(params.questionId);
    await write(await pool, who, async (tx) => {
      const isChanged = await retireQuestion(tx, who.accountId, id, body.isRetired);
      return {
        action: body.isRetired ? 'question retired' : 'question restored',
        subject: id,
        isChanged,
        result: undefined,
      };
    });
  });
  serveKpis(console, pool);
}

function serveKpis(console: Console, pool: Promise<Pool>): void {
  console.serve('GET /library/kpis', async (who) => ({ kpis: await kpiPages(await pool, who) }));
  /** Saves a KPI. `seen`: the version that was shown; undefined: the KPI is new. */
  const keep = async (who: Who, kpi: Kpi, seen?: string) =>
    write(await pool, who, async (tx) => {
      const before = (await selectKpis(tx, who.accountId)).find(({ id }) => id === kpi.id);
      if (seen !== undefined && before) rejectChanged(seen, changeable(before));
      const isChanged = await saveKpi(tx, who.accountId, kpi, seen === undefined);
      return {
        isChanged,
        action: seen === undefined ? 'kpi created' : 'kpi changed',
        subject: kpi.id,
        details: { questionIds: kpi.questionIds },
        result: undefined,
      };
    });
  console.serve('POST /library/kpis', async (who, { body }) => keep(who, body));
  console.serve('PUT /library/kpis/{kpiId}', async (who, { params, body: { version, ...kpi } }) =>
    keep(who, { id: params.kpiId, ...kpi }, version),
  );
}

const changeable = ({ name, translations, imageUrl, questionIds }: Kpi) => ({
  name,
  translations,
  imageUrl,
  questionIds,
});

type ChangeableField = 'text' | 'translations' | 'options' | 'allowsNotApplicable';

const textsOf = ({ text, translations, options, allowsNotApplicable }: Pick<Question, ChangeableField>) => ({
  text,
  translations,
  options,
  allowsNotApplicable,
});

async function changeableTexts(tx: Transaction, { accountId }: Who, questionId: number) {
  const question = (await selectQuestions(tx, accountId)).find(({ id }) => id === questionId);
  if (!question) throw questionNotFound();
  return textsOf(question);
}

type Written<T> = {
  action: AuditAction;
  subject: string | number;
  details?: Record<string, unknown>;
  /** False: nothing has changed, so nothing is logged. */
  isChanged?: boolean;
  result: T;
};

/** Changes the library and logs the change, in one transaction that locks the account. */
async function write<T>(pool: Pool, who: Who, work: (tx: Transaction) => Promise<Written<T>>): Promise<T> {
  return inTransaction(pool, async (tx) => {
    await lockAccount(tx, who.accountId);
    const { action, subject, details = {}, isChanged = true, result } = await work(tx);
    if (isChanged) await audit(tx, who.accountId, actorOf(who), action, { subject, details });
    return result;
  });
}

async function libraryOf(db: Db, { accountId }: Who): Promise<{ questions: LibraryQuestion[]; kpis: Kpi[] }> {
  const [questions, kpis, asked] = await Promise.all([
    selectQuestions(db, accountId),
    selectKpis(db, accountId),
    selectAskedWeekCounts(db, accountId),
  ]);
  const timesOf = new Map(asked.map((one) => [one.questionId, one]));
  return {
    kpis,
    questions: questions.map((question) => {
      const times = timesOf.get(question.id);
      return {
        ...questionTextsOf(question),
        ...languagesIn(question),
        kpiIds: kpis.filter(({ questionIds }) => questionIds.includes(question.id)).map(({ id }) => id),
        weeks: times?.weeks ?? 0,
        last: times ? named(times.last) : null,
      };
    }),
  };
}

async function questionPage(db: Db, who: Who, questionId: number): Promise<QuestionView> {
  const { accountId } = who;
  const { questions } = await libraryOf(db, who);
  const question = questions.find(({ id }) => id === questionId);
  if (!question) throw questionNotFound();
  const [asked, schedules] = await Promise.all([
    selectAskedIn(db, accountId, questionId, weeksShown),
    selectSchedules(db, accountId),
  ]);
  const names = new Map(
    (
      await selectGroupNames(
        db,
        accountId,
        asked.flatMap(({ groupIds }) => groupIds),
      )
    ).map(({ id, name }) => [id, name]),
  );
  return {
    ...question,
    version: versionOf(textsOf(question)),
    askedIn: asked.map((week) => askedWeek(week, names, schedules)),
    schedules: schedules
      .filter(
        (one) =>
          one.questionIds.includes(questionId) || one.kpiIds.some((id) => question.kpiIds.includes(id)),
      )
      .map(({ id, name, questionIds }) => ({ id, name, isFixed: questionIds.includes(questionId) })),
  };
}

function askedWeek(
  { week, isOpen, groupIds, groupCount, scheduleIds }: AskedInWeek,
  names: ReadonlyMap<number, string>,
  schedules: Schedule[],
): QuestionView['askedIn'][number] {
  const nameOf = (wanted: number) => schedules.find(({ id }) => id === wanted)?.name ?? null;
  return {
    ...named(week),
    isOpen,
    groups: groupIds.map((id) => ({ id, name: names.get(id) ?? null })),
    groupCount,
    schedules: scheduleIds.filter((id) => id !== null).map((id) => ({ id, name: nameOf(id) })),
  };
}

async function kpiPages(db: Db, { accountId }: Who): Promise<KpiView[]> {
  const [kpis, questions, valued, schedules] = await Promise.all([
    selectKpis(db, accountId),
    selectQuestions(db, accountId),
    selectKpisWithValues(db, accountId),
    selectSchedules(db, accountId),
  ]);
  const byId = new Map(questions.map((question) => [question.id, questionTextsOf(question)]));
  return kpis.map((kpi) => ({
    id: kpi.id,
    name: kpi.name,
    translations: kpi.translations,
    imageUrl: kpi.imageUrl,
    version: versionOf(changeable(kpi)),
    hasValues: valued.has(kpi.id),
    questions: kpi.questionIds.map((one) => byId.get(one)).filter((one) => one !== undefined),
    schedules: schedules
      .filter(({ kpiIds }) => kpiIds.includes(kpi.id))
      .map((one) => ({ id: one.id, name: one.name })),
  }));
}
