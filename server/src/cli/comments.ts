// The command that exports comments: the same comments, columns and numbers as the console's export for an administrator.
import { accountById } from '../accounts/accounts.ts';
import { audit } from '../accounts/audit.ts';
import { asAdministrator } from '../console/core/administrator.ts';
import type { ExportedComments } from '../console/results/csv.ts';
import type { Pool } from '../db/db.ts';
import { selectGroups } from '../people/groups.sql.ts';
import {
  account,
  accountOf,
  type Command,
  languageOption,
  numberOf,
  text,
  UsageError,
  type OptionValues,
  weekOption,
} from './options.ts';

export const commentCommands: Record<string, Command> = {
  'comments export': {
    isLogged: false, // the export itself is in the audit log
    usage:
      '--account ID [--group ID] [--question ID] [--week 2026-W38] [--search TEXT] [--language en|sv]\n' +
      '    Prints the published comments of a group (default: the whole company) as CSV, with the numbers of comments and answers\n' +
      '    for each question and week, as the Comments page of the console does. The export is in the audit log.',
    options: { ...account, group: text, question: text, week: text, search: text, language: text },
    run: exportComments,
    format: commentsText,
  },
};

type Exported = ExportedComments & { language: string };

async function exportComments(pool: Pool, values: OptionValues): Promise<Exported> {
  // Imported here, because the console would slow down every other command.
  const { mostInFile, readCommentExport } = await import('../console/results/comments.ts');
  const accountId = accountOf(values);
  const language = languageOption(values);
  const wanted = {
    questionId: values['question'] === undefined ? undefined : String(numberOf(values, 'question')),
    week: weekOption(values),
    search: values['search'] === undefined ? undefined : String(values['search']),
    language,
  };
  const { timezone } = await accountById(pool, accountId);
  const groupId = String(
    values['group'] === undefined ? await topGroupOf(pool, accountId) : numberOf(values, 'group'),
  );
  const who = asAdministrator(accountId, timezone);
  const page = { offset: 0, limit: mostInFile };
  const read = await readCommentExport(pool, who, { ...wanted, groupId }, page);
  await audit(pool, accountId, { origin: 'command' }, 'comments exported', {
    subject: groupId,
    details: { count: read.rows.length },
  });
  return { language, ...read };
}

async function commentsText({ language, ...read }: Exported): Promise<string> {
  const { commentTable, tableTexts } = await import('../console/results/csv.ts');
  return commentTable(read, tableTexts.in(language));
}

/** Returns the group that contains all others. */
async function topGroupOf(pool: Pool, accountId: number): Promise<number> {
  const [top, ...others] = (await selectGroups(pool, accountId)).filter(({ parentId }) => parentId === null);
  if (!top || others.length > 0)
    throw new UsageError(
      `--group is required, because the account has ${top ? 'several groups' : 'no group'} at the top.`,
    );
  return top.id;
}
