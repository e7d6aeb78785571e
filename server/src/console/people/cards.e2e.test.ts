// Printing cards and setting up a kiosk in the console, in a real browser: what an administrator creates there can be used on paper and on
// a tablet.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginSession } from '../../auth/sessions.ts';
import { inTransaction } from '../../db/db.ts';
import { createGroup } from '../../people/groups.ts';
import { createUser } from '../../people/users.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { openConsole } from '../../testing/browser/console.ts';
import { openWorld, type World } from '../../testing/world.ts';

let world: World;
let browser: Browser;
beforeAll(async () => {
  if (!hasBrowser()) return;
  world = await openWorld(undefined, { publicUrl: 'http://soundings.example.com' });
  browser = await openBrowser();
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
});

const admin = 'ada@example.org';

/** Creates an account with people without email in two groups, in three languages. */
async function company() {
  const { id } = await world.account();
  await inTransaction(world.pool, async (tx) => {
    const groupOf = (name: string) => createGroup(tx, id, { name, externalId: name });
    const groups = [await groupOf('Warehouse'), await groupOf('Kitchen')];
    const names = [
      'Öberg',
      'Andersson',
      'Zimmermann',
      'Berg',
      'Lindqvist',
      'Müller',
      'Öhman',
      'Carlsson',
      'Dahl',
    ];
    for (const [i, lastName] of names.entries()) {
      await createUser(tx, id, {
        firstName: ['Karin', 'Ahmed', 'Jürgen'][i % 3] as string,
        lastName,
        language: ['sv', 'en', 'de'][i % 3] as string,
        memberships: { memberOf: [groups[i % 2] as number] },
      });
    }
  });
  const [user] = await world.pool<{ id: number }[]>`
    select user_id as id from users where account_id = ${id} and email = ${admin}`;
  const sessionOf = () =>
    beginSession(world.pool, { accountId: id, userId: user!.id }, { address: '127.0.0.1', agent: 'test' });
  return { ...world, accountId: id, sessionOf };
}

describe.skipIf(!hasBrowser())('cards and kiosks (skipped: there is no Chromium on the PATH)', () => {
  test('are created, printed by group and name, replaced, and used on a device', async () => {
    const one = await company();
    const page = await openConsole(one, browser, admin, { path: '/cards' });
    await page.getByRole('heading', { name: 'Cards', exact: true }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Print cards' }).click();
    await page.getByText('10 cards will be created').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create 10 cards' }).click();
    await page.getByText('These codes are shown only now').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const cards = page.getByRole('article');
    const names = await cards.evaluateAll((all) => all.map((card) => card.getAttribute('aria-label')));
    expect(names).toEqual([
      'Ahmed Andersson',
      'Karin Berg',
      'Ahmed Carlsson',
      'Jürgen Müller', // Kitchen
      'Jürgen Dahl',
      'Ahmed Lindqvist',
      'Karin Öberg',
      'Karin Öhman',
      'Jürgen Zimmermann', // Warehouse
      'Ada Admin', // no group
    ]);
    expect(await cards.nth(1).textContent()).toContain('Frågor från Test');
    expect(await cards.nth(3).textContent()).toContain('Fragen von Test');
    const code = (await cards.nth(0).locator('p[dir=ltr]').textContent()) as string;
    expect(code).toMatch(/^[2-9C-Y]{4}-[2-9C-Y]{4}-[2-9C-Y]{4}$/);
    // Ten cards need two sheets of paper, and nothing else is printed.
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
    expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(2);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByText('With a card').waitFor();
    await page.goto('/cards/print');
    await page.getByText('No cards to print').waitFor();
    expect(await page.content()).not.toContain(code);

    // Only those who have no card, unless cards are replaced.
    await page.goto('/people');
    await page
      .getByRole('row', { name: /Andersson/ })
      .getByRole('checkbox')
      .check();
    await page.getByRole('button', { name: 'Print cards' }).click();
    await page.getByText('None of these people needs a new card.').waitFor();
    await page.getByText('Replace existing cards').click();
    await page.getByText('1 earlier card stops working.').waitFor();
    await page.getByRole('button', { name: 'Create 1 card' }).click();
    await page.getByText('1 card on 1 sheet of A4 paper').waitFor();
    const entered = await fetch(`${world.address}/go`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ code }).toString(),
    });
    expect(entered.status).toBe(404);

    await page.goto('/cards');
    await page.getByRole('button', { name: 'Create kiosk' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Canteen');
    await page.getByRole('dialog').getByRole('button', { name: 'Create kiosk' }).click();
    await page.getByText('Kiosk “Canteen” created').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const address = /http:\/\/soundings\.example\.com(\/k\/[0-9A-Za-z]{27})/.exec(await page.content())?.[1];
    expect((await fetch(`${world.address}${address}`)).status).toBe(200);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('button', { name: 'Turn off' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Turn off' }).click();
    await page.getByText('No kiosks yet').waitFor();
    expect((await fetch(`${world.address}${address}`)).status).toBe(404);
    await page.getByRole('button', { name: 'Remove cards' }).click();
    await page.getByRole('button', { name: 'Remove 10 cards' }).click();
    await page.getByText('10 cards removed').waitFor();

    const entries = await world.pool<{ action: string; details: { count?: number } }[]>`
      select action, details from audit_entries where account_id = ${one.accountId} and action ~ '^(cards|kiosk)'
      order  by entry_id`;
    expect(entries.map(({ action, details }) => [action, details.count])).toEqual([
      ['cards created', 10],
      ['cards created', 1],
      ['kiosk created', undefined],
      ['kiosk turned off', undefined],
      ['cards removed', 10],
    ]);
  });

  test('fit on a phone in Swedish and the dark theme', async () => {
    const one = await company();
    const settings = {
      language: 'sv',
      colorScheme: 'dark',
      size: { width: 390, height: 844 },
      touch: true,
    } as const;
    const page = await openConsole(one, browser, admin, { path: '/cards', ...settings });
    await page.getByRole('heading', { name: 'Kort och kiosker' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Skriv ut kort' }).click();
    await page.getByRole('button', { name: 'Skapa 10 kort' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Skapa 10 kort' }).click();
    await page.getByText('Koderna visas bara nu').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });
});
