// One administrator tries to sign in as another: with a link that is shown, with a new address, or without the second factor. This
// can't happen unnoticed, because the other administrator gets an email at the previous address.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type NoticedChange, noticedChanges } from '../../accounts/noticed-changes.ts';
import { setPassword } from '../../auth/sign-in.ts';
import { openLog } from '../../base/log.ts';
import { signInNew } from '../../testing/signed-in.ts';
import { openSmtp, type TestSmtp } from '../../testing/smtp.ts';
import { until } from '../../testing/until.ts';
import { openWorld, type World } from '../../testing/world.ts';

let [world, smtp] = [undefined as unknown as World, undefined as unknown as TestSmtp];
beforeAll(async () => {
  smtp = await openSmtp();
  world = await openWorld(openLog('silent'), { smtpUrl: smtp.url });
});
afterAll(async () => {
  await world.close();
  await smtp.close();
});

/** Creates an attacking administrator, and another person of the account, with a password and two-factor authentication. */
async function createScene(role: 'Administrator' | 'Manager' = 'Administrator', hasPassword = true) {
  const { id: accountId } = await world.account();
  const attacker = await signInNew(world, accountId, 'Administrator');
  const victim = await signInNew(world, accountId, role);
  const path = `/users/${victim.userId}`;
  const { email } = (await attacker.request<{ email: string }>(`GET ${path}`)).body;
  if (hasPassword) await setPassword(world.pool, accountId, victim.userId, 'a password of the victim');
  await world.pool`
    insert into two_factor (account_id, user_id, secret, on_since)
    values (${accountId}, ${victim.userId}, ${Buffer.alloc(61)}, now())`;
  return { ...attacker, path, email, accountId };
}

const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to.includes(address));
const textTo = async (address: string) => (await until(async () => mailsTo(address)[0])).text;

test('if mail can be sent, a link for an administrator is not shown, but mailed to the person', async () => {
  const { request, path, email } = await createScene();
  const shown = await request(`POST ${path}/sign-in-link`, { by: 'screen' });
  expect([shown.status, shown.body.details[0]?.type]).toEqual([409, 'by email only']);
  expect((await request(`POST ${path}/sign-in-link`, { by: 'mail' })).status).toBe(200);
  expect(await textTo(email)).toContain('/password#');
});

test('changes to the sign-in of another user are mailed to the previous address', async () => {
  const attacks: [string, string, object | undefined, string][] = [
    ['DELETE', '/two-factor', undefined, 'Two-factor authentication was turned off'],
    ['PATCH', '', { email: 'attacker@elsewhere.example' }, 'email address in Soundings was changed'],
    ['PATCH', '', { role: 'Manager' }, 'changed your role'],
  ];
  for (const [method, below, body, said] of attacks) {
    const { request, path, email } = await createScene();
    expect((await request(`${method} ${path}${below}`, body)).status).toBeLessThan(300);
    expect(await textTo(email)).toContain(said);
    expect(mailsTo(email)).toHaveLength(1);
  }
  const { request, path, email } = await createScene('Manager');
  expect((await request(`POST ${path}/sign-in-link`, { by: 'screen' })).status).toBe(200);
  expect(await textTo(email)).toContain('The link was shown to the administrator.');
});

test('administrators get an email about new administrators and tokens, and a person about being deactivated or removed', async () => {
  const { request, path, email, accountId } = await createScene();
  const third = await signInNew(world, accountId, 'Administrator');
  const { email: other } = (await request<{ email: string }>(`GET /users/${third.userId}`)).body;
  await setPassword(world.pool, accountId, third.userId, 'a password of the third');
  const added = {
    firstName: 'Eve',
    lastName: 'Ek',
    email: `eve-${accountId}@elsewhere.example`,
    role: 'Administrator',
  };
  const more = { phone: null, language: null, timezone: null, active: true, externalId: null };
  expect((await request('POST /users', { ...added, ...more })).status).toBe(200);
  expect((await request('POST /tokens', { name: 'Power BI', scopes: ['data'], expires: null })).status).toBe(
    200,
  );
  expect((await request(`PATCH ${path}`, { active: false })).status).toBe(200);
  expect((await request(`PATCH ${path}`, { active: true })).status).toBe(200);
  expect((await request(`DELETE ${path}`)).status).toBe(204);
  const said = (address: string) =>
    mailsTo(address).flatMap(
      ({ text }) => /Eve Ek \(eve\S+\)|“Power BI”|deactivated your sign-in or removed/.exec(text)?.[0] ?? [],
    );
  const all = [`Eve Ek (${added.email})`, '“Power BI”'];
  expect(await until(async () => said(email).length === 4 && said(email))).toEqual([
    ...all,
    'deactivated your sign-in or removed',
    'deactivated your sign-in or removed',
  ]);
  expect(await until(async () => said(other).length === 2 && said(other))).toEqual(all);
});

test('the documentation lists every email about signing in and its recipients', () => {
  const operations = readFileSync(
    new URL('../../../../docs/operators/operations.md', import.meta.url),
    'utf8',
  );
  const rows = [...operations.matchAll(/^\| (.+?) +\| (the person|all administrators).* \|$/gm)];
  const events: Record<NoticedChange, string> = {
    'password set': 'password set',
    'link shown': 'link to set a password shown',
    'link to previous address': 'link sent to the previous address',
    'two-factor turned on': 'two-factor authentication turned on',
    'two-factor turned off': 'two-factor authentication turned off',
    'recovery codes created': 'recovery codes created',
    'address changed': 'email address changed',
    'role changed': 'role changed in the console',
    'shut out': 'deactivated or removed',
    'identity linked': 'identity at a sign-in provider linked',
    'handed over to directory': 'administrator handed over to the directory',
    'administrator added': 'someone becomes an administrator',
    'provider added': 'sign-in provider added, changed or removed',
    'provider changed': 'sign-in provider added, changed or removed',
    'provider removed': 'sign-in provider added, changed or removed',
    'single sign-on required': 'single sign-on required',
    'single sign-on optional': 'single sign-on required',
    'token created': 'API token created',
  };
  const listed = Object.entries(events).map(([change, words]) => {
    const row = rows.find(([, event = '']) => event.startsWith(words));
    return [change, row?.[2]?.replace(/^(the|all) /, '')];
  });
  expect(Object.fromEntries(listed)).toEqual(noticedChanges);
});

test('no email is sent to a person who has no way to sign in, or about a change without effect', async () => {
  const [without, other] = [await createScene('Manager', false), await createScene('Manager')];
  await without.request(`POST ${without.path}/sign-in-link`, { by: 'screen' });
  await without.request(`PATCH ${without.path}`, { email: `new-${without.email}` });
  await other.request(`PATCH ${other.path}`, { email: other.email, role: 'Manager', firstName: 'Eve' });
  const [{ count } = { count: -1 }] = await world.pool<{ count: number }[]>`
    select count(*)::integer as count from graphile_worker.jobs where task_identifier = 'mail account notice'`;
  expect(count).toBe(0);
  expect([...mailsTo(without.email), ...mailsTo(other.email)]).toEqual([]);
});
