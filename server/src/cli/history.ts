// The command that imports past surveys.
import { importHistory } from '../history/history.ts';
import { account, accountOf, type Command, required } from './options.ts';

export const historyCommands: Record<string, Command> = {
  'history import': {
    usage:
      '--account ID FILE\n' +
      '    Imports past surveys from NDJSON (docs/integrators/history.md). A file with an error changes nothing. Weeks that have ended\n' +
      '    are published. Use such a file for new questions, KPIs and translations, too (docs/administrators/asking.md).',
    options: account,
    positional: 'FILE',
    run: (pool, values, keys) =>
      importHistory(pool, keys, accountOf(values), required(values, 'FILE'), Date.now()),
    format: ({
      questions,
      kpis,
      rounds,
      answers,
      weeks,
      ignored,
    }: Awaited<ReturnType<typeof importHistory>>) =>
      `New: ${questions} questions, ${kpis} KPIs, ${rounds} rounds in ${weeks} weeks, ${answers} answers.` +
      (ignored ? `\nIgnored: ${ignored} answers of rounds that already exist.` : ''),
  },
};
