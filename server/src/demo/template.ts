// The demo company that sandboxes are copied from. It is the same in every installation and at any time: its weeks have fixed dates, and a copy
// moves them to the weeks before its own creation.
import { type Week } from '@soundings/contract/weeks.ts';
import { createAccount } from '../accounts/accounts.ts';
import type { AccountId, Pool, Transaction } from '../db/db.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { ServeAnswering } from '../simulation/simulation.ts';
import { makeDemoCompany } from './company.ts';
import { demoPlot, demoTimezone, equip, fillDemo } from './fill.ts';

/** The Monday after the last week of the template. */
export const templateMonday: Week = '2026-01-05';

/** Creates the account of the template, without people and weeks, and returns its id. */
export async function createTemplateAccount(tx: Transaction): Promise<AccountId> {
  const { id } = await createAccount(
    tx,
    { name: 'Lavmark (template of sandboxes)', timezone: demoTimezone, kind: 'template' },
    { origin: 'service' },
  );
  await equip(tx, id);
  return id;
}

/**
 * Fills the account of the template with people and weeks. `weeks`: how many of its 26. `onWeek` is called before each with its number, from
 * 0. The pool needs four connections.
 */
export async function fillTemplate(
  { pool, keys, serve }: { pool: Pool; keys: AnswerKeys; serve: ServeAnswering },
  id: AccountId,
  weeks: number,
  onWeek: (done: number) => Promise<void>,
): Promise<void> {
  const whole = makeDemoCompany({ seed: demoPlot.seed, today: templateMonday });
  const company = { ...whole, weeks: whole.weeks.slice(-weeks) };
  await fillDemo(pool, keys, id, company, {
    now: Date.parse(`${templateMonday}T12:00:00Z`),
    serve,
    onWeek: (week) => onWeek(company.weeks.indexOf(week)),
  });
}
