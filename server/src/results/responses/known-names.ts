// Keeps the questions and KPIs of accounts, whose names and texts most responses contain, as long as the version of the account is the same. Every change
// of them raises it, and reading them takes longer than reading the figures of a group.
import type { AccountId, Db } from '../../db/db.ts';
import { type Question, selectQuestions } from '../../questions/questions.sql.ts';
import { type KpiTexts, selectKpi } from '../data/results.sql.ts';

/** An account, as it was when its caller was identified. */
type AtVersion = { accountId: AccountId; version: string };

export type KnownNames = {
  questions(db: Db, account: AtVersion): Promise<Question[]>;
  kpi(db: Db, account: AtVersion, kpiId: string): Promise<KpiTexts | undefined>;
};

type Known = { version: string; questions?: Question[]; kpis: Map<string, KpiTexts> };

/** `most`: the number of questions and KPIs that are kept, of all accounts together. */
export function openKnownNames(most = 10_000): KnownNames {
  // In the order of last use.
  const accounts = new Map<AccountId, Known>();
  let count = 0;
  const sizeOf = ({ questions = [], kpis }: Known): number => 1 + questions.length + kpis.size;

  function add(accountId: AccountId, known: Known | undefined): void {
    const before = accounts.get(accountId);
    if (before) count -= sizeOf(before);
    accounts.delete(accountId);
    if (!known) return;
    accounts.set(accountId, known);
    count += sizeOf(known);
    for (const id of accounts.keys()) {
      if (count <= most) break;
      add(id, undefined);
    }
  }

  function at({ accountId, version }: AtVersion): Known {
    const known = accounts.get(accountId);
    return known?.version === version ? known : { version, kpis: new Map() };
  }

  return {
    async questions(db, account) {
      const found = at(account).questions ?? (await selectQuestions(db, account.accountId));
      add(account.accountId, { ...at(account), questions: found });
      return found;
    },
    async kpi(db, account, kpiId) {
      const found = at(account).kpis.get(kpiId) ?? (await selectKpi(db, account.accountId, kpiId));
      if (found)
        add(account.accountId, { ...at(account), kpis: new Map(at(account).kpis).set(kpiId, found) });
      return found;
    },
  };
}
