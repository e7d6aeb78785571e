// Plans and applies rules for trees, and handovers of people, on a separate thread. For 20,000 people this takes seconds, which would block all other requests.
import type { TakeoverPlan, TreePlan, TreeRule } from '@soundings/contract/scim/directory.ts';
import type { Summary } from '@soundings/contract/organization.ts';
import type { Actor } from '../../accounts/audit.ts';
import type { AccountId } from '../../db/db.ts';
import { computationLimits, runOnThread } from '../../jobs/threads.ts';
import type { Chosen, Decided } from './takeover.ts';

export type OnRules = {
  /** Returns what a rule would change. */
  plan(accountId: AccountId, rule: TreeRule): Promise<TreePlan>;
  /** Applies a rule, if it changes exactly what its plan showed. */
  apply(accountId: AccountId, chosen: { rule: TreeRule; summary: Summary; by: Actor }): Promise<void>;
  /** Returns what handing people over to the directory would change. */
  planTakeover(accountId: AccountId, chosen: Chosen): Promise<TakeoverPlan>;
  /** Hands people over, if that changes exactly what its plan showed. */
  takeOver(accountId: AccountId, decided: Decided): Promise<void>;
};

/** The limits of the thread. */
const limits = { ...computationLimits, heapMb: 1024 };

/** `thread`: the module that plans and applies rules. */
export const openRules = (thread: URL, databaseUrl: Promise<string>): OnRules => ({
  planTakeover: async (accountId, planned) =>
    runOnThread<TakeoverPlan>(thread, { databaseUrl: await databaseUrl, accountId, planned }, limits),
  takeOver: async (accountId, decided) =>
    runOnThread(thread, { databaseUrl: await databaseUrl, accountId, decided }, limits),
  plan: async (accountId, rule) =>
    runOnThread<TreePlan>(thread, { databaseUrl: await databaseUrl, accountId, plan: { rule } }, limits),
  apply: async (accountId, chosen) =>
    runOnThread(thread, { databaseUrl: await databaseUrl, accountId, rule: chosen }, limits),
});
