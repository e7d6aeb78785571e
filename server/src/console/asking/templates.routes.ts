// The console: templates of schedules. One click creates the missing questions, the KPI, and a schedule for all top groups.
import type { QuestionTexts } from '@soundings/contract/console/asking.ts';
import type { Templates, TemplateView } from '@soundings/contract/console/start.ts';
import { isScaled } from '@soundings/contract/question-types.ts';
import { addWeeks, dayIn, weekOf } from '@soundings/contract/weeks.ts';
import { accountById, lockAccount } from '../../accounts/accounts.ts';
import { audit } from '../../accounts/audit.ts';
import { Fault } from '../../base/errors.ts';
import { missing, refuseField } from '../../base/field-faults.ts';
import { type Db, inTransaction, type Transaction } from '../../db/db.ts';
import { addQuestion, retireQuestions, saveKpi } from '../../questions/questions.ts';
import { type Kpi, type Question, selectKpis, selectQuestions } from '../../questions/questions.sql.ts';
import { nameOfTemplate, type Template, templateQuestions, templates } from '../../questions/templates.ts';
import { selectParents } from '../../rounds/rounds.sql.ts';
import { audiencesOf, createSchedule } from '../../rounds/schedules.ts';
import type { NewSchedule } from '../../rounds/schedules.sql.ts';
import { selectDateAttributes } from '../../rounds/by-date/due.sql.ts';
import { usualMinimum } from '../../rounds/by-date/due-days.ts';
import { actorOf, type Console, type Who } from '../core/console.ts';
import type { AskingDependencies } from './asking-dependencies.ts';
import { selectGroupNames } from './asking.sql.ts';
import { questionTextsOf, withPointers } from './question-texts.ts';

export function serveTemplates(console: Console, { pool, now }: AskingDependencies): void {
  console.serve('GET /templates', async (who) => templatesView(await pool, who, now()));
  console.serve('POST /templates/{templateId}', async (who, { params, body }) => {
    const template = templates.find(({ id }) => id === params.templateId);
    if (!template) throw templateNotFound();
    return inTransaction(await pool, async (tx) => {
      await lockAccount(tx, who.accountId);
      return { scheduleId: await createFrom(tx, who, template, { attribute: body.attribute, now: now() }) };
    });
  });
}

const templateNotFound = () =>
  new Fault('not_found', 'template not found', 'This template does not exist. Choose one of the list.');

async function templatesView(db: Db, { accountId, timezone }: Who, now: number): Promise<Templates> {
  const [{ language, threshold }, questions, kpis, groupIds] = await Promise.all([
    accountById(db, accountId),
    selectQuestions(db, accountId),
    selectKpis(db, accountId),
    topGroups(db, accountId),
  ]);
  const everyone = { groupIds, withoutGroupIds: [], byDate: null };
  const [audience] = await audiencesOf(db, accountId, [everyone], dayIn(timezone, now));
  const names = await selectGroupNames(db, accountId, groupIds);
  const present = new Map(questions.map((question) => [question.key, question]));
  return {
    templates: templates.map((template) =>
      templateView(template, { language, threshold, present, kpis, from: firstDay(timezone, now) }),
    ),
    groups: names.map(({ name }) => name),
    people: audience?.people ?? 0,
    attributes: await selectDateAttributes(db, accountId),
    language,
  };
}

type Present = {
  language: string;
  threshold: number;
  present: ReadonlyMap<string, Question>;
  kpis: Kpi[];
  from: string;
};

function templateView(
  template: Template,
  { language, threshold, present, kpis, from }: Present,
): TemplateView {
  const { id, repeatWeeks, weekday, hour, reminderDays, kpiIds } = template;
  const chosen = kpis.filter((kpi) => kpiIds.includes(kpi.id));
  const own = (question: (typeof questions)[number]): QuestionTexts => {
    const known = present.get(question.key);
    return known
      ? questionTextsOf(known)
      : { ...question, id: 0, allowsNotApplicable: false, isRetired: false };
  };
  const questions = templateQuestions(template, language);
  return {
    id,
    name: nameOfTemplate(template, language),
    questions: questions.map(own),
    ...choiceOf(template, chosen),
    kpis: chosen.map(({ id: kpiId, name, translations }) => ({ id: kpiId, name, translations })),
    repeatWeeks,
    weekday,
    hour,
    reminderDays,
    byDate: template.byDate && { ...template.byDate, minPeople: usualMinimum(threshold) },
    from,
  };
}

/** Returns how many questions a template asks at a time: more than usual if its KPIs have been given more questions. */
function choiceOf(
  { perWeek, everyWeeks }: Template,
  kpis: Kpi[],
): { perWeek: number | null; everyWeeks: number | null } {
  if (perWeek === null || everyWeeks === null) return { perWeek: null, everyWeeks: null };
  const count = new Set(kpis.flatMap(({ questionIds }) => questionIds)).size;
  return { perWeek: Math.min(50, Math.max(perWeek, Math.ceil(count / everyWeeks))), everyWeeks };
}

/** Schedules from templates start next week, so that there is time to look at them. */
const firstDay = (timezone: string, now: number): string => addWeeks(weekOf(dayIn(timezone, now)), 1);

async function topGroups(db: Db, accountId: number): Promise<number[]> {
  const parents = await selectParents(db, accountId);
  return [...parents].filter(([, parent]) => parent === null).map(([id]) => id);
}

async function createFrom(
  tx: Transaction,
  who: Who,
  template: Template,
  { attribute, now }: { attribute: string | undefined; now: number },
): Promise<number> {
  const { accountId } = who;
  const { language, threshold } = await accountById(tx, accountId);
  const byDate = byDateOf(template, attribute, threshold);
  const questionIds = await questionsFor(tx, who, template, language);
  const kpis = (await selectKpis(tx, accountId)).filter(({ id }) => template.kpiIds.includes(id));
  const { weekday, hour, repeatWeeks, reminderDays } = template;
  const schedule: NewSchedule = {
    name: nameOfTemplate(template, language),
    questionIds,
    kpiIds: kpis.map(({ id }) => id),
    ...choiceOf(template, kpis),
    groupIds: await topGroups(tx, accountId),
    withoutGroupIds: [],
    byDate,
    repeat: 'weeks',
    repeatWeeks,
    weekday,
    hour,
    anyHour: false,
    reminderDays,
    reminderHour: hour,
    fromDay: firstDay(who.timezone, now),
    untilDay: null,
  };
  const id = await withPointers(() => createSchedule(tx, accountId, schedule));
  const details = { name: schedule.name, template: template.id };
  await audit(tx, accountId, actorOf(who), 'schedule created', { subject: id, details });
  return id;
}

/** Returns how the template chooses people by a date. Throws a Fault if it needs an attribute and got none. */
function byDateOf(
  { byDate }: Template,
  attribute: string | undefined,
  threshold: number,
): NewSchedule['byDate'] {
  if (!byDate) return null;
  if (attribute === undefined) refuseField('/attribute', missing('attribute'));
  return { ...byDate, attribute, minPeople: usualMinimum(threshold) };
}

/** Creates the template's questions that are missing, brings back those that are retired, and returns the ids of all. */
async function questionsFor(
  tx: Transaction,
  who: Who,
  template: Template,
  language: string,
): Promise<number[]> {
  const { accountId } = who;
  if (template.questions.length === 0) return [];
  const present = new Map((await selectQuestions(tx, accountId)).map((one) => [one.key, one]));
  const ids: number[] = [];
  for (const question of templateQuestions(template, language)) {
    const known = present.get(question.key);
    if (known?.retiredAt) await retireQuestions(tx, accountId, [question.key], false);
    const id = known?.id ?? (await addQuestion(tx, accountId, question));
    if (!known) {
      const about = { subject: question.key, details: { id } };
      await audit(tx, accountId, actorOf(who), 'question created', about);
    }
    ids.push(id);
  }
  const scaled = template.questions.flatMap(({ key, type }, i) =>
    isScaled(type) ? [{ id: ids[i] as number, isNew: !present.has(key) }] : [],
  );
  await addKpi(tx, who, template, scaled);
  return ids;
}

/**
 * Creates the template's KPI if it is missing. One that exists may have been changed, and only gets questions that are new in the account,
 * because another template can have created it.
 */
async function addKpi(
  tx: Transaction,
  who: Who,
  { kpi }: Template,
  questions: { id: number; isNew: boolean }[],
): Promise<void> {
  if (!kpi) return;
  const known = (await selectKpis(tx, who.accountId)).find(({ id }) => id === kpi.id);
  const added = questions.filter(({ isNew }) => isNew || !known).map(({ id }) => id);
  if (added.length === 0) return;
  const { en, ...translations } = kpi.name;
  const questionIds = [...(known?.questionIds ?? []), ...added];
  const wanted = known
    ? { ...known, questionIds }
    : { id: kpi.id, name: en, translations, imageUrl: null, questionIds };
  await withPointers(() => saveKpi(tx, who.accountId, wanted, !known));
  const about = { subject: kpi.id, details: { questionIds } };
  await audit(tx, who.accountId, actorOf(who), known ? 'kpi changed' : 'kpi created', about);
}
