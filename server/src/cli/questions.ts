// The commands for questions.
import { lockAccount } from '../accounts/accounts.ts';
import { inTransaction, type Pool } from '../db/db.ts';
import { allowNotApplicable, retireQuestions } from '../questions/questions.ts';
import { selectKpis, selectQuestions } from '../questions/questions.sql.ts';
import {
  account,
  accountOf,
  type Command,
  flag,
  list,
  listOf,
  onOrOff,
  table,
  text,
  UsageError,
  type OptionValues,
} from './options.ts';

export const questionCommands: Record<string, Command> = {
  'question list': {
    isLogged: false,
    usage: '--account ID\n    Lists the questions of an account and the KPIs they belong to.',
    options: account,
    run: questionList,
    format: (questions: Awaited<ReturnType<typeof questionList>>) =>
      table([
        ['id', 'key', 'type', 'languages', 'KPIs', 'not applicable', 'retired', 'text'],
        ...questions.map(
          ({ id, key, type, languages, kpis, allowsNotApplicable, retired, text: questionText }) => [
            String(id),
            key,
            String(type),
            languages.join(' '),
            kpis.join(' '),
            allowsNotApplicable ? 'allowed' : '',
            retired ? 'yes' : '',
            questionText,
          ],
        ),
      ]),
  },
  'question retire': {
    usage:
      '--account ID --key K [--key …] [--restore]\n' +
      '    Retires questions: schedules no longer ask them, and their results stay. --restore: schedules ask them again.\n' +
      '    To add questions and translations, use npx soundings history import (docs/administrators/questions.md).',
    options: { ...account, key: list, restore: flag },
    run: async (pool, values) => {
      const keys = listOf(values, 'key');
      if (keys.length === 0) throw new UsageError('--key is missing.');
      const retired = values['restore'] !== true;
      await inTransaction(pool, async (tx) => {
        await lockAccount(tx, accountOf(values));
        await retireQuestions(tx, accountOf(values), keys, retired);
      });
      return { keys, retired };
    },
    format: ({ keys, retired }: { keys: string[]; retired: boolean }) =>
      `${keys.join(', ')}: ${retired ? 'retired' : 'restored'}.`,
  },
  'question set': {
    usage:
      '--account ID --key K [--key …] --not-applicable on|off\n' +
      '    Sets whether people can answer these questions with “not applicable”, in rounds that open from now on.',
    options: { ...account, key: list, 'not-applicable': text },
    run: async (pool, values) => {
      const keys = listOf(values, 'key');
      const allowed = onOrOff(values, 'not-applicable');
      if (keys.length === 0) throw new UsageError('--key is missing.');
      const accountId = accountOf(values);
      await inTransaction(pool, async (tx) => {
        await lockAccount(tx, accountId);
        await allowNotApplicable(tx, accountId, keys, allowed);
      });
      return { keys, notApplicable: allowed };
    },
    format: ({ keys, notApplicable }: { keys: string[]; notApplicable: boolean }) =>
      `${keys.join(', ')}: ${notApplicable ? 'allowed' : 'not allowed'} to answer with “not applicable”, in rounds that open from now on.`,
  },
};

async function questionList(pool: Pool, values: OptionValues) {
  const [questions, kpis] = await Promise.all([
    selectQuestions(pool, accountOf(values)),
    selectKpis(pool, accountOf(values)),
  ]);
  return questions.map(({ retiredAt, language, translations, ...question }) => ({
    ...question,
    language,
    translations,
    languages: [language, ...Object.keys(translations)],
    kpis: kpis.filter(({ questionIds }) => questionIds.includes(question.id)).map(({ id }) => id),
    retired: retiredAt !== null,
  }));
}
