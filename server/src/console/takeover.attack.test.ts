// One administrator tries to sign in as another: by a link that is shown, by a new address, or without the second factor. It can't be
// done unnoticed, since the person gets a mail at the address from before.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setPassword } from '../accounts/signin.ts';
import { openLog } from '../base/log.ts';
import { signInNew } from '../testing/signed-in.ts';
import { openSmtp, type TestSmtp } from '../testing/smtp.ts';
import { until } from '../testing/until.ts';
import { openWorld, type World } from '../testing/world.ts';

let [world, smtp] = [undefined as unknown as World, undefined as unknown as TestSmtp];
beforeAll(async () => {
  smtp = await openSmtp();
  world = await openWorld(openLog('silent'), { smtpUrl: smtp.url });
});
afterAll(async () => {
  await world.close();
  await smtp.close();
});

/** An administrator who attacks, and another person of the account, who has a password and codes. */
async function scene(role: 'Administrator' | 'Manager' = 'Administrator', hasPassword = true) {
  const { id: accountId } = await world.account();
  const attacker = await signInNew(world, accountId, 'Administrator');
  const victim = await signInNew(world, accountId, role);
  const path = `/users/${victim.userId}`;
  const { email } = (await attacker.ask<{ email: string }>(`GET ${path}`)).body;
  if (hasPassword) await setPassword(world.pool, accountId, victim.userId, 'a password of the victim');
  await world.pool`
    insert into second_steps (account_id, user_id, secret, on_since)
    values (${accountId}, ${victim.userId}, ${Buffer.alloc(61)}, now())`;
  return { ...attacker, path, email, accountId };
}

const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to.includes(address));
const textTo = async (address: string) => (await until(async () => mailsTo(address)[0])).text;

test('a link for an administrator is not shown where mail can be sent: it goes to the address of the person', async () => {
  const { ask, path, email } = await scene();
  const shown = await ask(`POST ${path}/sign-in-link`, { by: 'screen' });
  expect([shown.status, shown.body.details[0]?.type]).toEqual([409, 'by email only']);
  expect((await ask(`POST ${path}/sign-in-link`, { by: 'mail' })).status).toBe(200);
  expect(await textTo(email)).toContain('/password#');
});

test('what is done to the way another one signs in is mailed to the address from before', async () => {
  const attacks: [string, string, object | undefined, string][] = [
    ['DELETE', '/second-step', undefined, 'turned off two-factor authentication'],
    ['PATCH', '', { email: 'attacker@elsewhere.example' }, 'email address in Soundings was changed'],
    ['PATCH', '', { role: 'Manager' }, 'changed your role'],
  ];
  for (const [method, below, body, said] of attacks) {
    // oxlint-disable no-await-in-loop -- a few
    const { ask, path, email } = await scene();
    expect((await ask(`${method} ${path}${below}`, body)).status).toBeLessThan(300);
    expect(await textTo(email)).toContain(said);
    expect(mailsTo(email)).toHaveLength(1);
    // oxlint-enable no-await-in-loop
  }
  const { ask, path, email } = await scene('Manager');
  expect((await ask(`POST ${path}/sign-in-link`, { by: 'screen' })).status).toBe(200);
  expect(await textTo(email)).toContain('The link was shown to the administrator.');
});

test('no one gets a mail about a sign-in that they don’t have, or about what changes nothing', async () => {
  const [without, other] = [await scene('Manager', false), await scene('Manager')];
  await without.ask(`POST ${without.path}/sign-in-link`, { by: 'screen' });
  await without.ask(`PATCH ${without.path}`, { email: `new-${without.email}` });
  await other.ask(`PATCH ${other.path}`, { email: other.email, role: 'Manager', firstName: 'Eve' });
  const [{ count } = { count: -1 }] = await world.pool<{ count: number }[]>`
    select count(*)::integer as count from graphile_worker.jobs where task_identifier = 'mail account notice'`;
  expect(count).toBe(0);
  expect([...mailsTo(without.email), ...mailsTo(other.email)]).toEqual([]);
});
