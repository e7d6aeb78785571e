// Single sign-on with a real browser and a real provider: an administrator sets it up in the console alone, and people sign in in two steps.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLog } from '../base/log.ts';
import { axeFaults } from '../testing/browser/axe.ts';
import { closeWindows, hasBrowser, noBrowser, openBrowser } from '../testing/browser/browser.ts';
import { openConsole } from '../testing/browser/console.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { openWorld, type World } from '../testing/world.ts';
import { clientId, clientSecret, openTestProvider, type TestProvider } from './provider.fixture.ts';
import { reachingLoopback, sessionFor, setUp, type Setting } from './sso.fixture.ts';

let world: World;
let provider: TestProvider;
let browser: Browser;
let setting: Setting;
beforeAll(async () => {
  if (!hasBrowser()) return;
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  world = await openWorld(openLog('silent'), { port, publicUrl, ...reachingLoopback });
  provider = await openTestProvider();
  browser = await openBrowser();
  setting = await setUp(world, provider.issuer);
  provider.register(setting.provider.addresses);
});
afterAll(async () => {
  await closeWindows();
  await provider?.close();
  await world?.close();
});

const place = () => ({
  ...world,
  accountId: setting.accountId,
  sessionOf: () => sessionFor(world, setting.accountId, setting.admin.userId),
});
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

describe.skipIf(!hasBrowser())(`single sign-on (skipped: ${noBrowser})`, () => {
  test('people sign in in two steps, and sign out here and at the provider', async () => {
    await setting.addPerson({ email: 'ida@example.org', role: 'Manager' });
    provider.people.set('ida', { email: 'ida@example.org', email_verified: true });
    const page = await openConsole(place(), browser, undefined, { path: '/sign-in?to=/profile' });
    page.expectComplaint(/favicon/);
    await page.getByRole('link', { name: 'Sign in with Work' }).click();
    await page.getByLabel('User').fill('ida');
    await press(page, 'Sign in');
    await page.getByRole('heading', { level: 1, name: 'Your profile' }).waitFor();
    await page.getByText('Connected', { exact: true }).waitFor();
    await page.getByRole('button', { name: /Manager$/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await press(page, 'Yes, sign me out');
    await page.getByRole('heading', { level: 1, name: 'Sign in to Soundings' }).waitFor();
    // The provider asks again, because its own session has ended as well.
    await page.getByRole('link', { name: 'Sign in with Work' }).click();
    await page.getByLabel('User').waitFor();
    expect(new URL(page.url()).origin).toBe(provider.issuer);
  });

  test('a refused sign-in says why on the sign-in page, and the password form stays', async () => {
    provider.people.set('stranger', { email: 'stranger@example.org', email_verified: true });
    const page = await openConsole(place(), browser, undefined, { path: '/sign-in' });
    page.expectComplaint(/favicon/);
    await page.getByRole('link', { name: 'Sign in with Work' }).click();
    await page.getByLabel('User').fill('stranger');
    await press(page, 'Sign in');
    await page.getByText('No one at your company has this email address').waitFor();
    await page.getByLabel('Password', { exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
  });

  test('an administrator adds, tests and turns on a provider in the console alone', async () => {
    await world.pool`delete from sign_in_providers where account_id = ${setting.accountId}`;
    provider.people.set('boss', { email: setting.admin.email, email_verified: true });
    const page = await openConsole(place(), browser, setting.admin.email, { path: '/single-sign-on' });
    await press(page, 'Add provider');
    const field = (name: string) => page.getByLabel(name, { exact: true });
    await field('Name on the button').fill('Company');
    await field('Issuer').fill(`${provider.issuer}/.well-known/openid-configuration`);
    await field('Client ID').fill(clientId);
    await field('Client secret').fill(clientSecret);
    await page.getByRole('dialog').getByRole('button', { name: 'Add provider' }).click();
    await page.getByRole('heading', { level: 2, name: 'Company' }).waitFor();
    const [added] = (await setting.admin.request<{ providers: Setting['provider'][] }>('GET /sso')).body
      .providers;
    provider.register((added as Setting['provider']).addresses);
    const [tab] = await Promise.all([page.context().waitForEvent('page'), press(page, 'Test sign-in')]);
    await tab.getByLabel('User').fill('boss');
    await tab.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText(/you could have signed in/).waitFor();
    await page.getByText(`Verified email address: ${setting.admin.email}`).waitFor();
    await press(page, 'Edit…');
    await page.getByRole('switch', { name: 'On' }).check();
    await press(page, 'Save');
    await page.getByText('On: people can sign in with it').waitFor();
    expect(await axeFaults(page)).toEqual([]);
  });
});
