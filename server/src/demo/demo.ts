// Creates the demo company in a real account: its data is pushed like that of any other company, and half a year is simulated.
import { dayIn, type Week } from '@soundings/contract/weeks.ts';
import { accountById, createAccount, lockAccount } from '../accounts/accounts.ts';
import { updateStartDismissed } from '../accounts/accounts.sql.ts';
import { resetPassword } from '../auth/sign-in.ts';
import { createToken } from '../accounts/tokens.ts';
import { newId } from '../base/ids.ts';
import { Fault } from '../base/errors.ts';
import { newPassword } from '../base/crypto/secrets.ts';
import { type AccountId, inTransaction, type Pool } from '../db/db.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { createUser } from '../people/users.ts';
import { allowNotApplicable, defineLibrary } from '../questions/questions.ts';
import { selectKpis, selectQuestions } from '../questions/questions.sql.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { newLinks } from '../rounds/links.ts';
import { askNow } from '../rounds/ask-now.ts';
import { openDueRounds } from '../rounds/opening.ts';
import { selectRounds } from '../rounds/rounds.sql.ts';
import { createSchedule } from '../rounds/schedules.ts';
import { selectSchedules } from '../rounds/schedules.sql.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { pulseOf, type ServeAnswering, simulate } from '../simulation/simulation.ts';
import { pushOrganization } from '../sync/sync.ts';
import {
  type DemoCompany,
  demoAttribute,
  makeDemoCompany,
  notForEveryone,
  otherSchedules,
} from './company.ts';
import { selectAdministrator, selectPersonAskedNow, selectDemoAccount, selectTopGroup } from './demo.sql.ts';

const name = 'Lavmark (demo)';
const timezone = 'Europe/Stockholm';
const administrator = 'demo@lavmark.example';
/** The seed of the demo company's answers, and the share of people who answer. */
export const demoPlot = { seed: 1, rate: 0.82 };

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
  const whole = makeDemoCompany({ seed: demoPlot.seed, today: dayIn(timezone, now) });
  const company = { ...whole, weeks: whole.weeks.slice(-weeks) };
  const id = (await selectDemoAccount(pool, name)) ?? (await createDemoAccount(pool));
  await fill(pool, keys, id, company, { now, serve });
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
  const wanted = { email: administrator, password: newPassword() };
  return inTransaction(pool, async (tx) => {
    const exists = (await selectAdministrator(tx, id, administrator)) !== undefined;
    if (exists) await resetPassword(tx, id, wanted, true);
    return exists ? wanted : undefined;
  });
}

async function createDemoAccount(pool: Pool): Promise<AccountId> {
  return inTransaction(pool, async (tx) => {
    const { id, language } = await createAccount(tx, { name, timezone });
    const { values: allowedValues } = demoAttribute;
    await defineAttribute(tx, id, { name: demoAttribute.name, allowedValues });
    await createUser(tx, id, {
      firstName: 'Demo',
      lastName: 'Administrator',
      email: administrator,
      role: 'Administrator',
    });
    await defineLibrary(tx, id, language);
    await allowNotApplicable(tx, id, notForEveryone, true);
    await updateStartDismissed(tx, id, true);
    return id;
  });
}

/** Simulates the missing weeks: all weeks or, after an interruption, the weeks after the last simulated one. */
async function fill(
  pool: Pool,
  keys: AnswerKeys,
  id: AccountId,
  company: DemoCompany,
  { now, serve }: { now: number; serve: ServeAnswering },
): Promise<void> {
  const asked = new Set((await selectRounds(pool, id)).map(({ week }) => week));
  if (asked.size >= company.weeks.length) return;
  const missing = company.weeks.slice(company.weeks.findLastIndex((week) => asked.has(week)) + 1);
  const [first] = missing;
  if (first === undefined) return;
  await push(pool, id, company, first);
  await createSchedules(pool, id, first);
  const { character } = company;
  const before = (week: Week) => push(pool, id, company, week);
  await simulate(pool, keys, id, { ...demoPlot, weeks: missing.length, now, serve, character, before });
  await push(pool, id, company, undefined);
}

/** Pushes the organization as it is in a week, or now. */
async function push(pool: Pool, id: AccountId, company: DemoCompany, week: Week | undefined): Promise<void> {
  const run = { id: newId(), source: 'api' as const, tokenId: null, address: null, file: null };
  const bytes = Buffer.from(JSON.stringify(company.organizationIn(week)));
  await pushOrganization(pool, id, run, { bytes, gzip: false }, { deleteGroupResults });
}

/** Creates a pulse of all KPIs, and schedules for questions that belong to no KPI. */
async function createSchedules(pool: Pool, id: AccountId, first: Week): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await lockAccount(tx, id);
    if ((await selectSchedules(tx, id)).length > 0) return;
    const groupIds = [await selectTopGroup(tx, id)];
    const kpiIds = (await selectKpis(tx, id)).map((kpi) => kpi.id);
    const pulse = pulseOf({ groupIds, kpiIds, perWeek: 5 }, first);
    await createSchedule(tx, id, pulse);
    const idOf = new Map((await selectQuestions(tx, id)).map((question) => [question.key, question.id]));
    for (const { questions, ...schedule } of otherSchedules(first)) {
      const questionIds = questions.map((key) => idOf.get(key) as number);
      const fixed = { kpiIds: [], perWeek: null, everyWeeks: null, questionIds };
      await createSchedule(tx, id, { ...pulse, ...fixed, ...schedule });
    }
  });
}

async function exampleLink(pool: Pool, id: AccountId): Promise<string | undefined> {
  const person = await selectPersonAskedNow(pool, id);
  return person && (await newLinks(pool, [{ accountId: id, ...person }]))[0];
}

/** Asks the pulse at once, so that there is always a page to try: on Mondays, it is otherwise sent at 9:00. Returns a link to it. */
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
