// The form for the first few people, in a real browser: what is entered becomes people, faults are at their fields in the user's
// language, and nothing that was entered is lost.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginSession } from '../../auth/sessions.ts';
import { inTransaction } from '../../db/db.ts';
import { createGroup } from '../../people/groups.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { openConsole } from '../../testing/browser/console.ts';
import { openWorld, type World } from '../../testing/world.ts';

const admin = 'ada@example.org';

let world: World;
let browser: Browser;
beforeAll(async () => {
  if (!hasBrowser()) return;
  world = await openWorld();
  browser = await openBrowser();
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
});

async function company() {
  const { id } = await world.account();
  await inTransaction(world.pool, (tx) => createGroup(tx, id, { name: 'Kitchen' }));
  const [user] = await world.pool<{ id: number }[]>`
    select user_id as id from users where account_id = ${id} and email = ${admin}`;
  const sessionOf = () =>
    beginSession(world.pool, { accountId: id, userId: user!.id }, { address: '127.0.0.1', agent: 'test' });
  const people = async () => {
    const rows = await world.pool<{ name: string; group: string | null }[]>`
      select u.first_name || ' ' || u.last_name as name, g.name as group
      from   users u
      left   join memberships m on m.account_id = u.account_id and m.user_id = u.user_id
      left   join groups g on g.account_id = m.account_id and g.group_id = m.group_id
      where  u.account_id = ${id} and u.email is distinct from ${admin}
      order  by 1`;
    return rows.map(({ name, group }) => [name, group]);
  };
  return { ...world, accountId: id, sessionOf, people };
}

describe.skipIf(!hasBrowser())(
  'the form for several people (skipped: there is no Chromium on the PATH)',
  () => {
    test('adds the filled rows; a fault is at its field, and everything that was entered stays', async () => {
      const one = await company();
      const page = await openConsole(one, browser, admin, { path: '/people/several' });
      const field = (label: string, row: number) => page.getByLabel(label).nth(row);
      await page.getByRole('heading', { name: 'Person 5' }).waitFor();
      expect(await axeFaults(page)).toEqual([]);

      await field('First name', 0).fill('Lea');
      await field('Last name', 0).fill('Berg');
      await page
        .getByRole('combobox', { name: /^Group/ })
        .first()
        .click();
      await page.getByRole('option', { name: 'Kitchen' }).click();
      await field('First name', 2).fill('Bo');
      await field('Email', 2).fill(admin);
      page.expectComplaint(/status of 400/);
      const add = page.getByRole('button', { name: 'Add people', exact: true });
      await add.click();
      await page.getByText('This field is required.').waitFor();
      await page.getByText('Another person already has this email address.').waitFor();
      expect(await axeFaults(page)).toEqual([]);
      expect(await one.people()).toEqual([]);
      expect(await field('First name', 0).inputValue()).toBe('Lea');

      await field('Last name', 2).fill('Ek');
      await field('Email', 2).fill('bo@example.org');
      await add.click();
      await page.getByText('2 people added').first().waitFor();
      expect(new URL(page.url()).pathname).toBe('/people');
      expect(await one.people()).toEqual([
        ['Bo Ek', null],
        ['Lea Berg', 'Kitchen'],
      ]);
    });

    test('says in Swedish what is wrong, on a phone in the dark theme', async () => {
      const one = await company();
      const page = await openConsole(one, browser, admin, {
        path: '/people/several',
        language: 'sv',
        colorScheme: 'dark',
        size: { width: 390, height: 844 },
        touch: true,
      });
      await page.getByLabel('Förnamn').first().fill('Åsa');
      await page.getByLabel('E-post').first().fill('asa@');
      page.expectComplaint(/status of 400/);
      await page.locator('button[type=submit]').click();
      await page.locator('[aria-invalid=true]').first().waitFor();
      const faults = await page.evaluate<string[]>(`[...document.querySelectorAll('[aria-invalid=true]')].map(
      (input) => document.getElementById(input.getAttribute('aria-describedby').split(' ').at(-1)).textContent)`);
      expect(faults.length).toBeGreaterThan(0);
      for (const text of faults) expect(text).not.toMatch(/ is |must|required/);
      expect(await axeFaults(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      expect(await one.people()).toEqual([]);
    });
  },
);
