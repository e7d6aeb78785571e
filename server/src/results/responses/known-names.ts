// Keeps the questions and KPIs of accounts, whose names and texts most responses contain, as long as the version of the account is the same. Every change
// of them raises it, and reading them takes longer than reading the figures of a group.
import type { AccountId, Db } from '../../db/db.ts';
import { type Question, selectQuestions } from '../../questions/questions.sql.ts';
import { type KpiTexts, selectKpi } from '../data/results.sql.ts';
import { hasVersion } from '../fragments/fragments.sql.ts';

/** An account, as it was when its caller was identified. */
type AtVersion = { accountId: AccountId; version: string };

/** Both may return newer names than those of the version, but never older ones. */
export type KnownNames = {
  questions(db: Db, account: AtVersion): Promise<Question[]>;
  kpi(db: Db, account: AtVersion, kpiId: string): Promise<KpiTexts | undefined>;
};

type Known = { version: string; questions?: Question[]; kpis: Map<string, KpiTexts>; size: number };

/** About how many characters an account takes without any names. */
const sizeOfAccount = 200;

/** `most`: the number of characters of questions and KPIs that are kept, of all accounts together. */
export function openKnownNames(most = 8_000_000): KnownNames {
  // In the order of last use.
  const accounts = new Map<AccountId, Known>();
  let size = 0;

  /** Returns what is known of an account, as the last one that was used. */
  function at({ accountId, version }: AtVersion): Known {
    const known = accounts.get(accountId);
    forget(accountId);
    const current =
      known?.version === version
        ? known
        : { version, kpis: new Map<string, KpiTexts>(), size: sizeOfAccount };
    accounts.set(accountId, current);
    size += current.size;
    return current;
  }

  function forget(accountId: AccountId): void {
    size -= accounts.get(accountId)?.size ?? 0;
    accounts.delete(accountId);
  }

  /** Notes that an account, the last one that was used, has more names, and forgets the accounts that were used the longest time ago if there are too many. */
  function grow(known: Known, added: unknown): void {
    const more = JSON.stringify(added).length;
    known.size += more;
    size += more;
    for (const id of accounts.keys()) {
      if (size <= most) break;
      forget(id);
    }
  }

  return {
    async questions(db, account) {
      const known = at(account).questions;
      if (known) return known;
      const found = await selectQuestions(db, account.accountId);
      if (!(await hasVersion(db, account.accountId, account.version))) return found; // it may be newer
      const current = at(account);
      if (!current.questions) {
        current.questions = found;
        grow(current, found);
      }
      return found;
    },
    async kpi(db, account, kpiId) {
      const known = at(account).kpis.get(kpiId);
      if (known) return known;
      const found = await selectKpi(db, account.accountId, kpiId);
      if (!(await hasVersion(db, account.accountId, account.version))) return found; // it may be newer
      const current = at(account);
      if (found && !current.kpis.has(kpiId)) {
        current.kpis.set(kpiId, found);
        grow(current, found);
      }
      return found;
    },
  };
}
