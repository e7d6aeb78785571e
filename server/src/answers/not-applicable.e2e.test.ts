// "Not applicable" on the answering page in a real browser: by keyboard, next to check boxes, and for screen readers.
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { allowNotApplicable } from '../questions/questions.ts';
import { newLinks } from '../rounds/links.ts';
import { openDueRounds } from '../rounds/opening.ts';
import { noon, planAsking } from '../testing/asking.ts';
import { axeFaults } from '../testing/browser/axe.ts';
import { hasBrowser } from '../testing/browser/browser.ts';
import { keptAnswers } from '../testing/kept-answers.ts';
import { until } from '../testing/until.ts';
import { browser, useAnsweringBrowser, world } from './answering-browser.fixture.ts';

useAnsweringBrowser();

/** Opens the page of a person who can answer questions of these types with "not applicable". */
async function openPage(keys: string[]) {
  const { id: accountId } = await world.account();
  const { userIds, questionIds } = await planAsking(world.pool, accountId, { count: 1, keys });
  await inTransaction(world.pool, (tx) => allowNotApplicable(tx, accountId, keys, true));
  await openDueRounds(world.pool, world.keys, noon);
  const week = '2026-11-16';
  const [link] = await newLinks(world.pool, [{ accountId, userId: userIds[0] as number, week }]);
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`${world.address}/a/${link}`);
  const untilStored = (key: string, answer: object) =>
    until(async () => {
      const stored = (await keptAnswers(world, accountId, week)).find(
        ({ questionId }) => questionId === questionIds.get(key),
      );
      return (
        stored &&
        JSON.stringify(stored) === JSON.stringify({ questionId: stored.questionId, ...nothing, ...answer })
      );
    });
  return { page, untilStored };
}

const nothing = { value: null, choices: null, comment: null, skipped: false };
const none = (page: Page) => page.getByLabel('Not applicable to me').filter({ visible: true });

test.skipIf(!hasBrowser())(
  'is the last choice of the group, reached by the arrow keys, and replaced by another choice or a skip',
  async () => {
    const { page, untilStored } = await openPage(['workload-rested', 'workload-pace']);
    await page.getByRole('radio').filter({ visible: true }).nth(9).focus();
    await page.keyboard.press('ArrowRight');
    expect(await none(page).isChecked()).toBe(true);
    await untilStored('workload-rested', { notApplicable: true });
    await page.keyboard.press('ArrowRight');
    expect(await none(page).isChecked()).toBe(false);
    await untilStored('workload-rested', { value: 1 });
    await page.keyboard.press('ArrowLeft');
    await untilStored('workload-rested', { notApplicable: true });
    await page.getByLabel('I’d rather not answer').filter({ visible: true }).check();
    expect(await none(page).isChecked()).toBe(false);
    await untilStored('workload-rested', { skipped: true });
    await none(page).check();
    expect(await page.getByLabel('I’d rather not answer').filter({ visible: true }).isChecked()).toBe(false);
    await untilStored('workload-rested', { notApplicable: true });
    await page.reload();
    expect(await none(page).isChecked()).toBe(true);
    expect(await axeFaults(page)).toEqual([]);
  },
);

test.skipIf(!hasBrowser())('next to check boxes, unchecks the others, and they uncheck it', async () => {
  const { page, untilStored } = await openPage(['energy-givers']);
  const others = page.getByRole('checkbox').filter({ visible: true });
  await others.nth(0).check();
  await others.nth(1).check();
  await untilStored('energy-givers', { choices: ['tasks', 'colleagues'] });
  await none(page).check();
  expect([await others.nth(0).isChecked(), await others.nth(1).isChecked()]).toEqual([false, false]);
  await untilStored('energy-givers', { notApplicable: true });
  await others.nth(1).check();
  expect(await none(page).isChecked()).toBe(false);
  await untilStored('energy-givers', { choices: ['colleagues'] });
  expect(await axeFaults(page)).toEqual([]);
});
