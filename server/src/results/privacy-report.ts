// The privacy report of an account: what is in force, who may see what, and what the installation cannot promise. Everything in it
// is read when it is asked for; it names no person.
import type { PrivacyReport } from '@soundings/contract/console.privacy.ts';
import { accountById } from '../accounts/accounts.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { type Installation, linkWeeks, privacyReportOf } from './privacy-promises.ts';
import {
  selectAccountFacts,
  selectClosedWeekCount,
  selectDatabaseFacts,
  selectDataTokens,
  selectLeftAfterClosing,
  selectLinkExports,
  selectManagerBases,
  selectOpenWeekRules,
  selectRoleCounts,
} from './privacy-report.sql.ts';

export type { Installation };

const weekMs = 7 * 86_400_000;

/** Returns until when there were copies of keys, in an export or in the database, that are of no use for later weeks. */
function copiesUntil({ exportedUntil, inDatabaseUntil }: Installation['keys']): string | null {
  const ends = [exportedUntil, inDatabaseUntil].filter((end) => end !== null);
  return ends.toSorted().at(-1) ?? null;
}

/** Returns the report as of now. Throws a Fault when there is no such account. */
export async function readPrivacyReport(
  pool: Pool,
  accountId: AccountId,
  installation: Installation,
): Promise<PrivacyReport> {
  await accountById(pool, accountId);
  const since = new Date(installation.now - linkWeeks * weekMs);
  const [account, openWeeks, closedWeeks, left, roles, bases, tokens, exports, database] = await Promise.all([
    selectAccountFacts(pool, accountId),
    selectOpenWeekRules(pool, accountId),
    selectClosedWeekCount(pool, accountId, copiesUntil(installation.keys)),
    selectLeftAfterClosing(pool, accountId),
    selectRoleCounts(pool, accountId),
    selectManagerBases(pool, accountId),
    selectDataTokens(pool, accountId),
    selectLinkExports(pool, accountId, since),
    selectDatabaseFacts(pool),
  ]);
  return privacyReportOf(
    {
      account: account!,
      openWeeks,
      closedWeeks,
      left,
      roles,
      bases,
      tokens: tokens.map(({ name, createdAt, lastUsedAt, expiresAt }) => ({
        name,
        createdAt: (createdAt as Date).toISOString(),
        lastUsedAt: lastUsedAt?.toISOString() ?? null,
        expiresAt: expiresAt?.toISOString() ?? null,
      })),
      exports: exports.map((one) => ({ ...one, lastAt: one.lastAt.toISOString() })),
      database,
    },
    installation,
  );
}
