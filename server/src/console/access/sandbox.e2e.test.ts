// An administrator creates a sandbox in a real browser, uses its token, resets it and deletes it.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { axeFaults } from '../../testing/browser/axe.ts';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { settled } from '../../testing/browser/console-pages.ts';
import { openConsole } from '../../testing/browser/console.ts';
import { type DemoWorld, openDemoWorld } from '../../testing/browser/demo-world.ts';

let world: DemoWorld;
let browser: Browser;
beforeAll(async () => {
  if (!hasBrowser()) return;
  world = await openDemoWorld({ sftpPort: 2222, sandboxWeeks: 1 } as never);
  browser = await openBrowser();
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
});

const status = async (authorization: string) =>
  (await world.request('GET', '/v1/groups', { headers: { authorization } })).status;

describe.skipIf(!hasBrowser())('the sandbox page', () => {
  test('creates a sandbox, shows its token once, resets it, replaces the token and deletes it', async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/sandbox' });
    const dialog = page.getByRole('dialog');
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const confirm = () => dialog.locator('button[type=submit]').click();
    const choose = async (name: string) => {
      await press('More actions');
      await page.getByRole('menuitem', { name }).click();
    };
    const shownToken = async () => {
      const token = await dialog.getByText(/^snd_/).first().textContent();
      await dialog.getByRole('button', { name: 'I have copied it' }).click();
      return token as string;
    };
    const ready = () => page.getByText('Ready', { exact: true }).waitFor({ timeout: 60_000 });

    await press('Create sandbox');
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByLabel('Read the audit log').uncheck();
    await confirm();
    const token = await shownToken();
    await ready();
    await settled(page);
    expect(await axeFaults(page)).toEqual([]);
    expect(await status(token)).toBe(200);
    expect(await page.getByText('snd_').count()).toBe(0);
    const first = await page.getByText(/^sftp -P 2222 sandbox-/).textContent();

    await press('Reset sandbox');
    await dialog.getByRole('button', { name: 'Reset sandbox' }).click();
    await page.getByText('Your sandbox is being reset.').waitFor();
    await ready();
    expect(await status(token)).toBe(200);
    expect(await page.getByText(/^sftp -P 2222 sandbox-/).textContent()).toBe(first);

    await choose('Replace token');
    await confirm();
    const other = await shownToken();
    expect([await status(token), await status(other)]).toEqual([401, 200]);

    await choose('Delete sandbox');
    await dialog.getByRole('button', { name: 'Delete sandbox' }).click();
    await page.getByText('Try the interfaces safely').waitFor();
    expect(await status(other)).toBe(401);
  });
});
