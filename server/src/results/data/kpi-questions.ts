// Which questions a KPI has in a week: those that it had when the figures of the week were published. Later changes of a KPI don't change
// what closed weeks show. Pure.
import type { Week } from '@soundings/contract/weeks.ts';

/** Returns the questions of a KPI in a week, in ascending order; without a week, all that it has had. */
export type QuestionsOf = (kpiId: string, week?: Week) => readonly number[];

/** `weeks`: oldest first. `kpis`: as they are today, for weeks before the first that has them stored. */
export function questionsIn(
  weeks: readonly { week: Week; kpiQuestions: Readonly<Record<string, readonly number[]>> | null }[],
  kpis: readonly { id: string; questionIds: readonly number[] }[],
): QuestionsOf {
  const today = { week: '', questions: new Map(kpis.map(({ id, questionIds }) => [id, questionIds])) };
  const stored = weeks.flatMap(({ week, kpiQuestions }) =>
    kpiQuestions ? { week, questions: new Map(Object.entries(kpiQuestions)) } : [],
  );
  const all = [today, ...stored];
  return (kpiId, week) => {
    if (week === undefined) return [...new Set(all.flatMap(({ questions }) => questions.get(kpiId) ?? []))];
    return all.findLast((one) => one.week <= week)?.questions.get(kpiId) ?? [];
  };
}
