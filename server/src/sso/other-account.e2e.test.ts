// An attack in a real browser: a link on a page of someone else leads to the provider of another account on the same installation. It must
// not end the session, or put anyone into a session of that account without their noticing.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLog } from '../base/log.ts';
import { axeFaults } from '../testing/browser/axe.ts';
import { closeWindows, hasBrowser, noBrowser, openBrowser } from '../testing/browser/browser.ts';
import { openConsole } from '../testing/browser/console.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { openWorld, type World } from '../testing/world.ts';
import { openTestProvider, type TestProvider } from './provider.fixture.ts';
import { reachingLoopback, sessionFor, setUp, type Setting, startOf } from './sso.fixture.ts';

let world: World;
let provider: TestProvider;
let browser: Browser;
let own: Setting;
let other: Setting;
let outside: Server;
let trap: string;
beforeAll(async () => {
  if (!hasBrowser()) return;
  const port = await freePort();
  world = await openWorld(openLog('silent'), {
    port,
    publicUrl: `http://127.0.0.1:${port}`,
    ...reachingLoopback,
  });
  provider = await openTestProvider();
  browser = await openBrowser();
  own = await setUp(world, provider.issuer);
  other = await setUp(world, provider.issuer);
  await world.pool`update accounts set name = 'Trap Ltd' where account_id = ${other.accountId}`;
  provider.register(other.provider.addresses);
  await other.addPerson({ email: 'mallory@example.org', role: 'Manager' });
  provider.people.set('mallory', { email: 'mallory@example.org', email_verified: true });
  outside = createServer((_, response) =>
    response
      .setHeader('content-type', 'text/html')
      .end(`<!doctype html><title>Offer</title><a href="${startOf(other, '/profile')}">Your survey</a>`),
  );
  outside.listen(0, '127.0.0.1');
  await once(outside, 'listening');
  trap = `http://localhost:${(outside.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  outside?.close();
  await closeWindows();
  await provider?.close();
  await world?.close();
});

describe.skipIf(!hasBrowser())(`a link to the provider of another account (skipped: ${noBrowser})`, () => {
  test.each([true, false])(
    'asks on the page of that account, signed in elsewhere: %s',
    async (isSignedIn) => {
      const place = {
        ...world,
        accountId: own.accountId,
        sessionOf: () => sessionFor(world, own.accountId, own.admin.userId),
      };
      const email = isSignedIn ? own.admin.email : undefined;
      const page = await openConsole(place, browser, email, { path: isSignedIn ? '/profile' : '/sign-in' });
      page.expectComplaint(/favicon/);
      await page.goto(trap);
      await page.getByRole('link', { name: 'Your survey' }).click();
      await page.getByText('Trap Ltd').waitFor();
      expect(new URL(page.url()).pathname).toBe('/sign-in');
      await page.getByText('A link led to this sign-in.').waitFor();
      expect(await page.getByText('You are signed in to').count()).toBe(isSignedIn ? 1 : 0);
      expect(await axeFaults(page)).toEqual([]);
      const session = async () =>
        (await page.request.get(`${world.address}/api/session`)).json() as Promise<object>;
      const before = (await session()) as { account?: { id: number } };
      expect(before.account?.id).toBe(isSignedIn ? own.accountId : undefined);
      // Nothing of it stays in the browser either.
      expect(await page.evaluate(() => localStorage.getItem('soundings.company'))).toBeNull();
      await page.getByRole('link', { name: 'Sign in with Work' }).click();
      await page.getByLabel('User').fill('mallory');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Your profile' }).waitFor();
      expect(await session()).toMatchObject({ account: { id: other.accountId } });
    },
  );
});
