// Imports the questions and KPIs that a history file defines.
import { isScaled, scaledTypes, typesText } from '@soundings/contract/question-types.ts';
import { quote } from '../base/text.ts';
import type { AccountId, Transaction } from '../db/db.ts';
import { changeFault, type DefinedKpi, defineKpis, defineQuestions } from '../questions/questions.ts';
import { selectQuestions, type NewQuestion } from '../questions/questions.sql.ts';
import { entriesOf } from './entries.ts';
import { faultAt } from './file.ts';
import { unknownQuestion } from './import-state.ts';
import type { KpiLine } from './lines.ts';

/**
 * Creates and changes the questions and KPIs of a file. Returns how many of each it created or changed. Throws a Fault that
 * names the line.
 */
export async function importDefinitions(
  tx: Transaction,
  accountId: AccountId,
  path: string,
): Promise<{ questions: number; kpis: number }> {
  const questions = new Map<string, { number: number; question: NewQuestion }>();
  const kpis = new Map<string, { number: number; kpi: KpiLine['kpi'] }>();
  for await (const entries of entriesOf(path, ['question', 'kpi'])) {
    for (const { number, line } of entries) {
      const key = line.kind === 'question' ? line.question.key : line.kpi.id;
      const isDuplicate = line.kind === 'question' ? questions.has(key) : kpis.has(key);
      if (isDuplicate) {
        const kind = line.kind === 'question' ? 'question' : 'KPI';
        throw faultAt(number, `The ${kind} ${quote(key)} is defined twice in this file.`);
      }
      if (line.kind === 'question') questions.set(key, { number, question: line.question });
      else kpis.set(key, { number, kpi: line.kpi });
    }
  }
  for (const before of await selectQuestions(tx, accountId)) {
    const { number, question } = questions.get(before.key) ?? {};
    const fault = question && changeFault(before, question);
    if (fault) throw faultAt(number as number, fault);
  }
  const changed = await defineQuestions(
    tx,
    accountId,
    [...questions.values()].map(({ question }) => question),
  );
  const known = new Map((await selectQuestions(tx, accountId)).map((question) => [question.key, question]));
  const wanted = [...kpis.values()].map(({ number, kpi }): DefinedKpi => {
    const ids = kpi.questions.map((key) => {
      const question = known.get(key);
      if (!question) throw faultAt(number, unknownQuestion(key));
      if (!isScaled(question.type)) {
        throw faultAt(
          number,
          `The question ${quote(key)} can't be part of a KPI. KPIs use questions of types ${typesText(scaledTypes)} only.`,
        );
      }
      return question.id;
    });
    const { questions: _, ...rest } = kpi;
    return { ...rest, questionIds: ids.toSorted((a, b) => a - b) };
  });
  return { questions: changed, kpis: await defineKpis(tx, accountId, wanted) };
}
