// The command that checks the audit log.
import { accountById } from '../../accounts/accounts.ts';
import { selectAccountIds } from '../../accounts/audit.sql.ts';
import { type Verified, verifyChain } from '../../accounts/audit-chain/verify.ts';
import { account, accountOf, type Command, type OptionValues, text, UsageError } from '../options.ts';

export const auditCommands: Record<string, Command> = {
  'audit verify': {
    isLogged: false,
    usage:
      '[--account ID] [--last POSITION:HASH]\n' +
      '    Checks that no entry of the audit log was changed, removed or reordered, and prints the last position and hash.\n' +
      '    Keep them outside the database. With --last, it also checks that the log still contains this entry of an account:\n' +
      '    only this shows that the last entries were removed, or that the whole log was written again.',
    options: { ...account, last: text },
    run: async (pool, values) => {
      const kept = keptOf(values);
      const one = values['account'] === undefined ? undefined : accountOf(values);
      if (kept && one === undefined) throw new UsageError('--last needs --account.');
      if (one !== undefined) await accountById(pool, one);
      const verified: Verified[] = [];
      for (const id of one === undefined ? await selectAccountIds(pool) : [one])
        verified.push(await verifyChain(pool, id, kept));
      return verified;
    },
    format: (all: Verified[]) => all.map(lineOf).join('\n') || 'There are no accounts.',
    isFailure: (all: Verified[]) => all.some(({ fault }) => fault !== undefined),
  },
};

const lineOf = ({ accountId, entries, last, fault }: Verified) =>
  fault === undefined
    ? `Account ${accountId}: all ${entries} entries are intact. Last: ${last.position}:${last.hash}`
    : `Account ${accountId}: the audit log is not intact. ${fault} Intact until position ${last.position}.`;

function keptOf(values: OptionValues) {
  if (values['last'] === undefined) return undefined;
  const [, position, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(String(values['last'])) ?? [];
  if (position === undefined || hash === undefined)
    throw new UsageError('--last must be a position, a colon and a hash, as this command prints them.');
  return { position: Number(position), hash };
}
