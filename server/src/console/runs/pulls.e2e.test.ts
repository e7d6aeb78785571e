// Setting up a pull from the console alone, in a real browser: creating it, its dry run, what its columns mean, and turning it on.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { beginSession } from '../../auth/sessions.ts';
import { networks, openHr, sendJson } from '../../pulls/pulls.fixture.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { openConsole } from '../../testing/browser/console.ts';
import { until } from '../../testing/until.ts';
import { openWorld, type World } from '../../testing/world.ts';

const admin = 'ada@example.org';

let world: World;
let browser: Browser | undefined;
beforeAll(async () => {
  world = await openWorld(undefined, { outgoingNetworks: networks });
  if (hasBrowser()) browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await world?.close();
});

const people = [
  { Personalcode: 'A1', Förnamn: 'Maja', Efternamn: 'Lind' },
  { Personalcode: 'A2', Förnamn: 'Ola', Efternamn: 'Berg' },
];

test.skipIf(!hasBrowser())('a pull is created, tried, mapped and turned on', async () => {
  const hr = await openHr(({ headers }, response) =>
    headers['x-api-key'] === 'key-1' ? sendJson(response, { people }) : response.writeHead(401).end(),
  );
  const { id: accountId } = await world.account();
  const sessionOf = async (email: string) => {
    const [user] = await world.pool<{ id: number }[]>`
      select user_id as id from users where account_id = ${accountId} and email = ${email}`;
    return beginSession(world.pool, { accountId, userId: user!.id }, { address: '127.0.0.1', agent: 'test' });
  };
  const page = await openConsole({ ...world, accountId, sessionOf }, browser as Browser, admin, {
    path: '/pulls',
  });

  await page.getByRole('button', { name: 'Create pull' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Where the list is' }).click();
  await page.getByRole('option', { name: 'Another HTTPS address' }).click();
  await dialog.getByLabel('Name', { exact: true }).fill('HR');
  await dialog.getByLabel('Address').fill(`${hr.url}/people`);
  await dialog.getByLabel('Name of the header').fill('X-Api-Key');
  await dialog.getByLabel('Value of the header').fill('wrong');
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create pull' }).click();

  await page.getByText('The list can’t be fetched').waitFor();
  await page.getByText('The credentials were refused').first().waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('Value of the header').fill('key-1');
  await dialog.getByRole('button', { name: 'Save pull' }).click();
  await page.getByText('Pull saved').waitFor();
  await page.getByRole('button', { name: 'Dry run' }).click();

  await page.getByText('The list was fetched, but can’t be applied like this').waitFor();
  await page.getByRole('link', { name: 'Open file' }).first().click();
  await page.getByRole('button', { name: 'Columns and values…' }).first().click();
  await dialog.getByRole('radio', { name: 'People' }).check();
  for (const [header, meaning] of [
    ['Personalcode', 'External ID'],
    ['Förnamn', 'First name'],
    ['Efternamn', 'Last name'],
  ] as const) {
    await dialog.getByRole('combobox', { name: new RegExp(`^${header} is read as`) }).click();
    await page.getByRole('option', { name: meaning, exact: true }).click();
  }
  await dialog.getByRole('button', { name: 'Confirm columns' }).click();
  await page.getByText('Columns confirmed. The file is being read again.').waitFor();

  // The file stays a dry run when it is read again.
  await page.getByRole('link', { name: 'Pulls' }).first().click();
  await page.getByRole('link', { name: /HR/ }).first().click();
  await page.getByText('The dry run was successful, and the pull is off').waitFor();
  expect(await axeFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByText('On', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Fetch and apply now' }).click();
  await dialog.getByRole('button', { name: 'Fetch and apply now' }).click();
  await page.getByText('Applied').first().waitFor();
  await until(async () => {
    const [row] = await world.pool`
      select from users where account_id = ${accountId} and external_id = 'A2' and first_name = 'Ola'`;
    return row !== undefined;
  });
});
