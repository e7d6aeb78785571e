// Text messages from the settings page to the answer, in a real browser and with a real gateway: an administrator turns them on, a person
// gets one, opens its link on a phone, and turns them off there.
import type { AccountSettingsView, SmsSettingsView } from '@soundings/contract/console/access.ts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginSession } from '../../auth/sessions.ts';
import { gatewaySettings, openTestGateway, type TestGateway } from '../../sms/gateway.fixture.ts';
import { noon, planAsking } from '../../testing/asking.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { openConsole } from '../../testing/browser/console.ts';
import { signInNew } from '../../testing/signed-in.ts';
import { openWorld, type World } from '../../testing/world.ts';
import { openDueRounds } from '../../rounds/opening.ts';

const admin = 'ada@example.org';
const publicUrl = 'http://surveys.example.com';
const metricsToken = 'metrics';

let world: World;
let gateway: TestGateway;
let browser: Browser | undefined;
beforeAll(async () => {
  gateway = await openTestGateway();
  const sms = gatewaySettings(gateway.url);
  world = await openWorld(undefined, { publicUrl, sms, metricsToken }, () => noon);
  if (hasBrowser()) browser = await openBrowser();
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
  await gateway?.close();
});

/** Creates an account whose two people have a phone number and no email address. */
async function company() {
  const account = await world.account({ timezone: 'Europe/Stockholm' });
  const { id } = account;
  const planned = await planAsking(world.pool, id, { count: 2 });
  await world.pool`
    update users set email = null, email_key = null, phone = '+4670174060' || right(external_id, 1)
    where  account_id = ${id} and role = 'User'`;
  const [user] = await world.pool<{ id: number }[]>`
    select user_id as id from users where account_id = ${id} and email = ${admin}`;
  const userId = user!.id;
  const sessionOf = () =>
    beginSession(world.pool, { accountId: id, userId }, { address: '127.0.0.1', agent: 'test' });
  return { ...world, ...planned, accountId: id, sessionOf };
}

const metric = async (name: string) => {
  const { body } = await world.request<string>('GET', '/metrics', {
    headers: { authorization: `Bearer ${metricsToken}` },
  });
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1]);
};

test('the settings show who would get text messages and what, in every language; the change is in the audit log', async () => {
  const { accountId } = await company();
  const { request } = await signInNew(world, accountId, 'Administrator');
  const { body } = await request<SmsSettingsView>('GET /settings/sms');
  expect(body).toMatchObject({ gateway: 'webhook', people: 2 });
  expect(new Set(body.previews.map(({ language }) => language)).size).toBe(11);
  for (const { text, encoding, segments } of body.previews) {
    expect(text).toMatch(/[^\n] http:\/\/surveys\.example\.com\/a\/[0-9A-Za-z]{27}$/);
    expect(segments).toBeLessThanOrEqual(encoding === 'GSM-7' ? 1 : 2);
  }
  expect((await request<AccountSettingsView>('GET /settings')).body.sms).toBe(false);
  expect((await request<AccountSettingsView>('PATCH /settings', { sms: true })).body.sms).toBe(true);
  const { body: log } = await request<{ rows: { action: string; details: unknown }[] }>('GET /audit');
  expect(log.rows[0]).toMatchObject({
    action: 'settings changed',
    details: { sms: { from: false, to: true } },
  });
  expect((await request<AccountSettingsView>('PATCH /settings', { sms: false })).body.sms).toBe(false);
  const manager = await signInNew(world, accountId, 'Manager');
  expect((await manager.request('GET /settings/sms')).status).toBe(403);
});

describe.skipIf(!hasBrowser())('text messages (skipped: there is no Chromium on the PATH)', () => {
  test('are turned on, sent by the service, lead to the answering page on a phone, and can be turned off there', async () => {
    // The service's own jobs of each minute would otherwise sometimes open the round before text messages are on, or send them before they are
    // counted.
    const names = ['open rounds', 'send messages'];
    await world.pool`
      insert into graphile_worker._private_known_crontabs (identifier, known_since, last_execution)
      select name, now(), now() + interval '1 day' from unnest(${names}::text[]) name
      on conflict (identifier) do update set last_execution = excluded.last_execution`;
    const jobs = () => world.pool`select from graphile_worker.jobs where task_identifier = any(${names})`;
    await expect.poll(async () => (await jobs()).length).toBe(0);
    const one = await company();
    const console = await openConsole(one, browser as Browser, admin, { path: '/settings' });
    const section = console.getByRole('region', { name: 'Text messages' });
    const first = section.getByRole('blockquote').first();
    await expect.poll(() => first.textContent()).toMatch(/^Test has questions for you, about 1 min\./);
    expect(await axeFaults(console)).toEqual([]);
    await console.getByRole('combobox', { name: 'Language of the preview' }).click();
    await console.getByRole('option', { name: 'Polish' }).click();
    await expect.poll(() => first.textContent()).toMatch(/^Test ma dla Ciebie pytania/);
    await section.getByRole('switch').click();
    await console.getByRole('button', { name: 'Save' }).click();
    await console.getByText('Settings saved').waitFor();

    await openDueRounds(world.pool, world.keys, noon);
    expect(await metric('soundings_waiting\\{what="text messages"\\}')).toBe(2);
    await world.pool`select graphile_worker.add_job('send messages')`;
    const got = await gateway.arrived(2);
    await expect.poll(() => metric('soundings_waiting\\{what="text messages"\\}')).toBe(0);
    const link = /\/a\/\w+/.exec(got[0]!.json.text)![0];

    const context = await (browser as Browser).newContext({
      baseURL: world.address,
      viewport: { width: 390, height: 844 },
    });
    const phone: Page = await context.newPage();
    await phone.goto(link);
    expect(await axeFaults(phone)).toEqual([]);
    await phone.getByRole('link', { name: 'Stop reminders or all survey messages' }).click();
    await phone.getByRole('button', { name: 'Stop all survey messages' }).click();
    await phone.getByRole('heading', { name: 'Survey messages stopped' }).waitFor();
    await context.close();
    const stopped = await world.pool`
      select all_emails from reminder_opt_outs where account_id = ${one.accountId}`;
    expect(stopped.map((row) => row['all_emails'])).toEqual([true]);
  });
});
