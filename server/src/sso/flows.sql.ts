// SQL for visits to a provider that have begun. Writers: flows.ts, test-results.ts.
import type { TestOutcome } from '@soundings/contract/console/sign-on/single-sign-on.ts';
import type { AccountId, Db, Pool, Transaction } from '../db/db.ts';

export type Purpose = 'sign in' | 'connect' | 'confirm' | 'test';

export type Flow = {
  accountId: AccountId;
  providerId: number;
  purpose: Purpose;
  userId: number | null;
  sessionId: number | null;
  returnTo: string;
  startedAt: Date;
};

export async function insertFlow(
  db: Db,
  flow: Flow & { stateHash: Buffer; browserHash: Buffer },
): Promise<void> {
  await db`
    insert into sign_in_flows (state_hash, account_id, provider_id, browser_hash, purpose, user_id, session_id, return_to,
                               started_at)
    values (${flow.stateHash}, ${flow.accountId}, ${flow.providerId}, ${flow.browserHash}, ${flow.purpose},
            ${flow.userId}, ${flow.sessionId}, ${flow.returnTo}, ${flow.startedAt})`;
}

/** Deletes a flow and returns it, so that only one of several responses gets it. Only for the browser that began it. */
export async function takeFlow(
  pool: Pool,
  { accountId, providerId }: { accountId: AccountId; providerId: number },
  { stateHash, browserHash, since }: { stateHash: Buffer; browserHash: Buffer; since: Date },
): Promise<Flow | undefined> {
  const [row] = await pool<Flow[]>`
    delete from sign_in_flows
    where  state_hash = ${stateHash} and browser_hash = ${browserHash}
      and  account_id = ${accountId} and provider_id = ${providerId} and started_at > ${since}
    returning account_id as "accountId", provider_id as "providerId", purpose as "purpose", user_id as "userId",
              session_id as "sessionId", return_to as "returnTo", started_at as "startedAt"`;
  return row;
}

/** Deletes the flows of all accounts (account_id) that began before a time. */
export async function deleteOldFlows(db: Db, before: Date): Promise<void> {
  await db`delete from sign_in_flows where started_at <= ${before} -- account_id: of all accounts`;
}

export type TestResult = { userId: number; testedAt: Date; outcome: TestOutcome };

/** Stores the result of a test, replacing the previous one of the provider. */
export async function upsertTest(
  tx: Transaction,
  accountId: AccountId,
  providerId: number,
  { userId, testedAt, outcome }: TestResult,
): Promise<void> {
  await tx`
    insert into sign_in_tests (account_id, provider_id, user_id, tested_at, outcome)
    values (${accountId}, ${providerId}, ${userId}, ${testedAt}, ${tx.json(outcome)})
    on conflict (account_id, provider_id) do update
    set    user_id = excluded.user_id, tested_at = excluded.tested_at, outcome = excluded.outcome`;
}

/** Returns the last test of each provider. */
export async function selectTests(
  db: Db,
  accountId: AccountId,
): Promise<(Omit<TestResult, 'userId'> & { providerId: number })[]> {
  return db`
    select provider_id as "providerId", tested_at as "testedAt", outcome as "outcome"
    from   sign_in_tests
    where  account_id = ${accountId}`;
}
