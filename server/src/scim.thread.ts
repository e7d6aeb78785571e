// The thread for directories (SCIM): applies what a directory has changed, and plans and applies the rule for its tree and handovers of people.
import type { TakeoverPlan, TreePlan, TreeRule } from '@soundings/contract/scim/directory.ts';
import type { Summary } from '@soundings/contract/organization.ts';
import type { Actor } from './accounts/audit.ts';
import { forWholeLists, openPool, retryLostConnections } from './db/db.ts';
import { serveThread } from './jobs/threads.ts';
import { deleteGroupResults } from './results/published-figures.ts';
import { applyDirectory, type Progress } from './scim/applying/apply.ts';
import { applyRule, planRule } from './scim/applying/rules.ts';
import { type Chosen, type Decided, planTakeover, takeOverPeople } from './scim/applying/takeover.ts';

export type DirectoryWork = { databaseUrl: string; accountId: number } & (
  | { directory: { now: number } }
  | { plan: { rule: TreeRule } }
  | { rule: { rule: TreeRule; summary: Summary; by: Actor } }
  | { planned: Chosen }
  | { decided: Decided }
);

retryLostConnections(() => {});
serveThread(
  async ({
    databaseUrl,
    accountId,
    ...work
  }: DirectoryWork): Promise<Progress | TreePlan | TakeoverPlan | void> => {
    const pool = openPool(databaseUrl, 1, forWholeLists);
    try {
      if ('directory' in work)
        return await applyDirectory(pool, accountId, work.directory.now, deleteGroupResults);
      if ('plan' in work) return await planRule(pool, accountId, work.plan.rule, deleteGroupResults);
      if ('planned' in work) return await planTakeover(pool, accountId, work.planned, deleteGroupResults);
      if ('decided' in work)
        return void (await takeOverPeople(pool, accountId, work.decided, deleteGroupResults));
      await applyRule(pool, accountId, work.rule, deleteGroupResults);
    } finally {
      await pool.end({ timeout: 5 });
    }
  },
);
