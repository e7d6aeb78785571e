// The commands for runs: organization requests and files.
import { deleteGroupResults } from '../results/published-figures.ts';
import { listRuns } from '../sync/runs.ts';
import { account, accountOf, type Command, minuteText, numberOf, required, table, text } from './options.ts';

export const runCommands: Record<string, Command> = {
  'runs list': {
    isLogged: false,
    usage: '--account ID [--limit N]\n    Lists organization requests and files, newest first.',
    options: { ...account, limit: text },
    run: async (pool, values) => {
      const limit = values['limit'] === undefined ? 20 : numberOf(values, 'limit');
      const runs = await listRuns(pool, accountOf(values), limit);
      return runs.map(({ id, at, source, file, validateOnly, outcome, summary, details }) => ({
        id,
        at,
        source,
        ...(file !== null && { file }),
        validateOnly,
        // The description of this command calls the outcome "held". Everything else calls it "pending".
        outcome: outcome === 'pending' ? 'held' : outcome,
        summary,
        ...(details !== null && { details }),
      }));
    },
    format: (
      runs: {
        id: string;
        at: Date;
        source: string;
        outcome: string;
        summary: unknown;
        details?: unknown[];
      }[],
    ) =>
      table([
        ['id', 'at', 'source', 'outcome', 'users + ~ −', 'groups + ~ −', 'errors'],
        ...runs.map((run) => [
          run.id,
          minuteText(run.at),
          run.source,
          run.outcome,
          ...countsOf(run.summary as Parameters<typeof countsOf>[0]),
          String(run.details?.length ?? ''),
        ]),
      ]),
  },
  'run approve': {
    isLogged: false,
    usage:
      '--account ID --id R\n' +
      '    Applies a pending run: exactly the changes in its report. Refused if anything has changed since the report.',
    options: { ...account, id: text },
    run: async (pool, values) => {
      const { approveRun } = await import('../files/approval.ts');
      const { refuseOutdated } = await import('../scim/applying/removals.ts');
      const report = await approveRun(pool, accountOf(values), required(values, 'id'), {
        deleteGroupResults,
        refuseOutdated,
      });
      // A run of the directory (SCIM) has no file and no report.
      return report ?? { message: 'The changes were applied.' };
    },
    format: ({ message }: { message: string }) => message,
  },
};

type CountsByAction = { created: number; updated: number; deleted: number };

function countsOf(summary: { users: CountsByAction; groups: CountsByAction } | null): [string, string] {
  const format = (counts: CountsByAction) => `${counts.created} ${counts.updated} ${counts.deleted}`;
  return summary ? [format(summary.users), format(summary.groups)] : ['', ''];
}
