// The privacy report of an account: the rules in force, who can see what, and what the installation can't promise. It is read from
// the database on every request and names no person.
import type { PrivacyReport } from '@soundings/contract/console/privacy.ts';
import { accountById } from '../../accounts/accounts.ts';
import type { AccountId, Pool } from '../../db/db.ts';
import { changeWeeks, type Installation, linkWeeks, privacyReportOf } from './privacy-promises.ts';
import {
  selectAccountFacts,
  selectChangesBefore,
  selectClosedWeekCount,
  selectDatabaseFacts,
  selectDataTokens,
  selectLeftAfterClosing,
  selectLinkExports,
  selectManagerBases,
  selectOpenWeekRules,
  selectReportedBreakdowns,
  selectRoleCounts,
} from './privacy-report.sql.ts';

const weekMs = 7 * 86_400_000;

/** Returns the time until which copies of keys existed, in an export or in the database. They can't open the answers of later weeks. */
function copiesUntil({ exportedUntil, inDatabaseUntil }: Installation['keys']): string | null {
  const ends = [exportedUntil, inDatabaseUntil].filter((end) => end !== null);
  return ends.toSorted().at(-1) ?? null;
}

/** Returns the current report. Throws a Fault if the account does not exist. */
export async function readPrivacyReport(
  pool: Pool,
  accountId: AccountId,
  installation: Installation,
): Promise<PrivacyReport> {
  await accountById(pool, accountId);
  const since = new Date(installation.now - linkWeeks * weekMs);
  const [
    account,
    openWeeks,
    closedWeeks,
    left,
    roles,
    bases,
    tokens,
    exports,
    database,
    breakdowns,
    changes,
  ] = await Promise.all([
    selectAccountFacts(pool, accountId),
    selectOpenWeekRules(pool, accountId),
    selectClosedWeekCount(pool, accountId, copiesUntil(installation.keys)),
    selectLeftAfterClosing(pool, accountId),
    selectRoleCounts(pool, accountId),
    selectManagerBases(pool, accountId),
    selectDataTokens(pool, accountId),
    selectLinkExports(pool, accountId, since),
    selectDatabaseFacts(pool),
    selectReportedBreakdowns(pool, accountId),
    selectChangesBefore(pool, accountId, changeWeeks),
  ]);
  return privacyReportOf(
    {
      account: account!,
      openWeeks,
      breakdowns: breakdowns.map(({ openedAt, closedAt, ...breakdown }) => ({
        ...breakdown,
        openedAt: openedAt.toISOString(),
        closedAt: closedAt?.toISOString() ?? null,
      })),
      changes,
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
