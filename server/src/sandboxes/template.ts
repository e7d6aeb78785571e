// Records the template of sandboxes: an account that is filled once and then only read. One that was interrupted is never continued, because
// its answers would not be those of every other template.
import { inTransaction, type Pool, type Transaction } from '../db/db.ts';
import type { AccountId } from '../db/db.ts';
import { insertTemplate, updateTemplateProgress, updateTemplateReady } from './sandboxes.sql.ts';
import type { TemplateKind } from './tend.ts';
import type { LogLevel } from '../base/config.ts';
import type { KeyPlace } from '../sealing/epoch-chain.ts';

/** What the thread gets that creates a template. `template`: its version and its number of weeks. `logLevel` is that of the service. */
export type TemplateWork = {
  databaseUrl: string;
  answerKeys: KeyPlace;
  template: { program: string; weeks: number };
  logLevel: LogLevel;
};

/** How to create the account of a template, and how to fill it. */
export type TemplateContent = {
  create: (tx: Transaction) => Promise<AccountId>;
  /** `onWeek` is called with the number of weeks that are done. */
  fill: (id: AccountId, onWeek: (done: number) => Promise<void>) => Promise<void>;
};

/** Creates a template. If this is interrupted, the template stays unfinished and is deleted later. */
export async function recordTemplate(
  pool: Pool,
  kind: Pick<TemplateKind, 'program' | 'weeks'>,
  { create, fill }: TemplateContent,
): Promise<void> {
  const id = await inTransaction(pool, async (tx) => {
    const accountId = await create(tx);
    await insertTemplate(tx, accountId, kind);
    return accountId;
  });
  await fill(id, (done) => updateTemplateProgress(pool, id, done));
  await updateTemplateReady(pool, id);
}
