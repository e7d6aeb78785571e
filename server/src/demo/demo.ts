// Makes the demo company in a real account: through the same doors as everybody's data, and half a year of simulated weeks.
import { dayIn, type Week } from '@soundings/contract/weeks.ts';
import { accountById, createAccount, lockAccount } from '../accounts/accounts.ts';
import { resetPassword } from '../auth/sign-in.ts';
import { createToken } from '../accounts/tokens.ts';
import { newId } from '../base/ids.ts';
import { newPassword } from '../base/secrets.ts';
import { type AccountId, inTransaction, type Pool } from '../db/db.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { createUser } from '../people/users.ts';
import { defineLibrary, selectKpis, selectQuestions } from '../questions/questions.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { newLinks } from '../rounds/links.ts';
import { openDueRounds } from '../rounds/opening.ts';
import { selectRounds } from '../rounds/rounds.ts';
import { createSchedule, selectSchedules } from '../rounds/schedules.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import { pulseOf, type ServeAnswering, simulate } from '../simulation/simulation.ts';
import { pushOrganization } from '../sync/sync.ts';
import { type DemoCompany, demoAttribute, makeDemoCompany, otherSchedules } from './company.ts';
import { selectAdministrator, selectAskedNow, selectDemoAccount, selectTopGroup } from './demo.sql.ts';

const name = 'Lavmark (demo)';
const timezone = 'Europe/Stockholm';
const administrator = 'demo@lavmark.example';
/** How the demo company answers. */
export const demoPlot = { seed: 1, rate: 0.82 };

export type Demo = {
  account: { id: AccountId; name: string; sftpUsername: string };
  topGroup: number;
  token: string;
  /** Who signs in to the console, with a password made anew each time: it is kept nowhere. Undefined: was removed. */
  administrator: { email: string; password: string } | undefined;
  /** The secret part of a link by which somebody answers in the present week; undefined while none is open. */
  link: string | undefined;
};

/**
 * Makes the demo company, or finds the one that was made before; the answers are those of the 26 weeks before it was made.
 * Returns it with a new token for all interfaces. `now`: milliseconds since 1970; `weeks`: with the last so many weeks
 * alone. The pool needs four connections.
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
  const id = (await selectDemoAccount(pool, name)) ?? (await makeAccount(pool));
  await fill(pool, keys, id, company, { now, serve });
  // As the service does each minute: so that there is a link to try when the week's Monday has come.
  await openDueRounds(pool, keys, now, { accountId: id });
  const scopes = ['data', 'organization', 'files'];
  const { token } = await createToken(pool, id, { name: 'demo', scopes });
  const { sftpUsername } = await accountById(pool, id);
  return {
    account: { id, name, sftpUsername },
    topGroup: await selectTopGroup(pool, id),
    token,
    administrator: await signInAnew(pool, id),
    link: await linkOfSomebody(pool, id),
  };
}

async function signInAnew(pool: Pool, id: AccountId): Promise<Demo['administrator']> {
  const wanted = { email: administrator, password: newPassword() };
  return inTransaction(pool, async (tx) => {
    const isThere = (await selectAdministrator(tx, id, administrator)) !== undefined;
    if (isThere) await resetPassword(tx, id, wanted, true);
    return isThere ? wanted : undefined;
  });
}

async function makeAccount(pool: Pool): Promise<AccountId> {
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
    return id;
  });
}

/** Simulates the weeks that are missing: all of them, or, after a stop in the middle, those after the last. */
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
  await makeSchedules(pool, id, first);
  const { character } = company;
  const before = (week: Week) => push(pool, id, company, week);
  await simulate(pool, keys, id, { ...demoPlot, weeks: missing.length, now, serve, character, before });
  await push(pool, id, company, undefined);
}

/** Makes the company what it is in a week, or now. */
async function push(pool: Pool, id: AccountId, company: DemoCompany, week: Week | undefined): Promise<void> {
  const run = { id: newId(), source: 'api' as const, tokenId: null, address: null, file: null };
  const bytes = Buffer.from(JSON.stringify(company.organizationIn(week)));
  await pushOrganization(pool, id, run, { bytes, gzip: false }, { deleteGroupResults });
}

/** A pulse from all KPIs, and what no KPI is made of twice in eight weeks. */
async function makeSchedules(pool: Pool, id: AccountId, first: Week): Promise<void> {
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
      // oxlint-disable-next-line no-await-in-loop -- two
      await createSchedule(tx, id, { ...pulse, ...fixed, ...schedule });
    }
  });
}

async function linkOfSomebody(pool: Pool, id: AccountId): Promise<string | undefined> {
  const somebody = await selectAskedNow(pool, id);
  return somebody && (await newLinks(pool, [{ accountId: id, ...somebody }]))[0];
}

/** What a newcomer does next, ready to be pasted. `address`: where the service is reached; `sftpPort`: 0 is none. */
export function describeDemo(
  { account, topGroup, token, administrator: somebody, link }: Demo,
  { publicUrl: address, sftpPort }: { publicUrl: string; sftpPort: number },
): string {
  const sftp = `sftp -P ${sftpPort} ${account.sftpUsername}@${new URL(address).hostname}`;
  return `
The demo company "${account.name}" is account ${account.id}: some 500 people in 60 groups, and 26 weeks of answers.

  Console         ${address}${somebody ? `   ${somebody.email} / ${somebody.password}` : ''}
  Documents       ${address}/docs
  API token       ${token}   (of all scopes, shown only now)
  SFTP user name  ${account.sftpUsername}   (the password is the token)
  Answering page  ${link === undefined ? 'none is open: the pulse is due on Mondays at 9' : `${address}/a/${link}`}

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
