// Creates the demo company in a real account: its data is pushed like that of any other company, and half a year is simulated.
import { dayIn } from '@soundings/contract/weeks.ts';
import { accountById, createAccount } from '../accounts/accounts.ts';
import { resetPassword } from '../auth/sign-in.ts';
import { createToken } from '../accounts/tokens.ts';
import { Fault } from '../base/errors.ts';
import { newPassword } from '../base/crypto/secrets.ts';
import { type AccountId, inTransaction, type Pool } from '../db/db.ts';
import { newLinks } from '../rounds/links.ts';
import { askNow } from '../rounds/ask-now.ts';
import { openDueRounds } from '../rounds/opening.ts';
import { selectSchedules } from '../rounds/schedules.sql.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { ServeAnswering } from '../simulation/simulation.ts';
import { makeDemoCompany } from './company.ts';
import { selectAdministrator, selectPersonAskedNow, selectDemoAccount, selectTopGroup } from './demo.sql.ts';
import { demoAdministrator, demoPlot, demoTimezone, equip, fillDemo } from './fill.ts';

const name = 'Lavmark (demo)';

export type Demo = {
  account: { id: AccountId; name: string; sftpUsername: string };
  topGroup: number;
  token: string;
  /** The administrator who can sign in to the console, with a new password each time. Undefined if they were removed. */
  administrator: { email: string; password: string } | undefined;
  /** The secret part of a personal link for the current week; undefined if no week is open. */
  link: string | undefined;
};

/**
 * Creates the demo company with the answers of the last 26 weeks, or finds an existing one. Returns it with a new token for all
 * interfaces. `now`: milliseconds since 1970. `weeks`: how many weeks to simulate, if fewer than 26. The pool needs four
 * connections.
 */
export async function makeDemo(
  pool: Pool,
  keys: AnswerKeys,
  now: number,
  serve: ServeAnswering,
  weeks = Infinity,
): Promise<Demo> {
  const whole = makeDemoCompany({ seed: demoPlot.seed, today: dayIn(demoTimezone, now) });
  const company = { ...whole, weeks: whole.weeks.slice(-weeks) };
  const id = (await selectDemoAccount(pool, name)) ?? (await createDemoAccount(pool));
  await fillDemo(pool, keys, id, company, { now, serve });
  // Opens the rounds that are due, as the service does every minute. From the Monday of a week on, there is then a link to try.
  await openDueRounds(pool, keys, now, { accountId: id });
  const scopes = ['data', 'organization', 'files'];
  const { token } = await createToken(pool, id, { name: 'demo', scopes });
  const { sftpUsername } = await accountById(pool, id);
  return {
    account: { id, name, sftpUsername },
    topGroup: await selectTopGroup(pool, id),
    token,
    administrator: await newAdministratorPassword(pool, id),
    link: (await exampleLink(pool, id)) ?? (await askedLink(pool, keys, id, now)),
  };
}

async function newAdministratorPassword(pool: Pool, id: AccountId): Promise<Demo['administrator']> {
  const wanted = { email: demoAdministrator, password: newPassword() };
  return inTransaction(pool, async (tx) => {
    const exists = (await selectAdministrator(tx, id, demoAdministrator)) !== undefined;
    if (exists) await resetPassword(tx, id, wanted, true);
    return exists ? wanted : undefined;
  });
}

async function createDemoAccount(pool: Pool): Promise<AccountId> {
  return inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name, timezone: demoTimezone });
    await equip(tx, id);
    return id;
  });
}

async function exampleLink(pool: Pool, id: AccountId): Promise<string | undefined> {
  const person = await selectPersonAskedNow(pool, id);
  return person && (await newLinks(pool, [{ accountId: id, ...person }]))[0];
}

/** Asks the pulse immediately, so that there is always a page to try: on Mondays, it is otherwise sent at 9:00. Returns a link to it. */
async function askedLink(
  pool: Pool,
  keys: AnswerKeys,
  id: AccountId,
  now: number,
): Promise<string | undefined> {
  const [pulse] = await selectSchedules(pool, id);
  if (!pulse) return undefined;
  const what = { accountId: id, scheduleId: pulse.id, by: { origin: 'service' } as const };
  try {
    await askNow(pool, keys, what, now);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return undefined; // someone has closed the week
  }
  return exampleLink(pool, id);
}

/** Returns the next steps for a new user, ready to paste. `address`: the address of the service. `sftpPort`: 0 if SFTP is off. */
export function describeDemo(
  { account, topGroup, token, administrator: signIn, link }: Demo,
  { publicUrl: address, sftpPort }: { publicUrl: string; sftpPort: number },
): string {
  const sftp = `sftp -P ${sftpPort} ${account.sftpUsername}@${new URL(address).hostname}`;
  return `
The demo company "${account.name}" is account ${account.id}: about 500 people in 60 groups, and 26 weeks of answers.

  Console         ${address}${signIn ? `   ${signIn.email} / ${signIn.password}` : ''}
  Documents       ${address}/docs
  API token       ${token}   (all scopes, shown only once)
  SFTP user name  ${account.sftpUsername}   (the password is the token)
  Answering page  ${link === undefined ? 'the week is closed; the next one opens on Monday at 9:00' : `${address}/a/${link}`}

Try:

  export TOKEN=${token}
  curl -s ${address}/v1/groups -H "Authorization: $TOKEN"
  curl -s ${address}/v1/kpis -H "Authorization: $TOKEN"
  curl -s '${address}/v1/kpis/workload/values?groupId=${topGroup}&includeSubgroups=true' -H "Authorization: $TOKEN"
  curl -s '${address}/v1/responserates/values?groupId=${topGroup}' -H "Authorization: $TOKEN"
  curl -s '${address}/v1/results?groupId=${topGroup}&includeComments=true&language=sv' -H "Authorization: $TOKEN"
  curl -s '${address}/v1/feed' -H "Authorization: $TOKEN" -o soundings.csv
  ${sftpPort === 0 ? '# SFTP is off (SFTP_PORT)' : sftp}
  npx soundings runs list --account ${account.id}
`;
}
