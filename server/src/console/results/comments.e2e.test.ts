// The comments page in a browser: words that stand out filter the comments, cards name each question once, and the page works on
// phones.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { openConsole } from '../../testing/browser/console.ts';
import { settled } from '../../testing/browser/console-pages.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { someOf } from '../../testing/house/cases.ts';
import { type DemoWorld, openDemoWorld } from '../../testing/browser/demo-world.ts';

let world: DemoWorld;
let browser: Browser;
let groupId: number;
beforeAll(async () => {
  if (!hasBrowser()) return;
  [world, browser] = await Promise.all([openDemoWorld(), openBrowser()]);
  // In the subgroup with the most comments, every third comment is about a crane.
  const [group] = await world.pool<{ id: number }[]>`
    select group_id as id
    from   groups join comment_groups using (account_id, group_id)
    where  account_id = ${world.accountId} and parent_id is not null
    group  by group_id order by count(*) desc limit 1`;
  groupId = group?.id as number;
  await world.pool`
    update comments c set text = c.text || ' Kranen!'
    from   comment_groups g
    where  g.account_id = ${world.accountId} and g.group_id = ${groupId} and c.account_id = g.account_id
      and  c.week = g.week and c.question_id = g.question_id and c.position = g.position
      and  (c.position + c.question_id) % 3 = 0`;
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
});

test.skipIf(!hasBrowser())(
  'a word that stands out filters the comments and is marked; no axe violations, in both themes and languages, also on a phone',
  async () => {
    const variants = [
      { language: 'en', colorScheme: 'light', size: { width: 1440, height: 900 } },
      { language: 'sv', colorScheme: 'dark', size: { width: 390, height: 844 } },
      { language: 'en', colorScheme: 'dark', size: { width: 390, height: 844 } },
      { language: 'sv', colorScheme: 'light', size: { width: 1440, height: 900 } },
    ] as const;
    for (const variant of someOf(variants)) {
      const page = await openConsole(world, browser, world.administrator.email, {
        path: `/comments?group=${groupId}`,
        ...variant,
      });
      const word = page.getByRole('button', { name: 'Kranen', exact: true });
      await word.waitFor();
      const headings = await page.getByRole('heading', { level: 2 }).allInnerTexts();
      expect(new Set(headings).size).toBe(headings.length);
      expect(await axeFaults(page)).toEqual([]);
      const [planted] = await world.pool<{ comments: number }[]>`
        select count(*)::integer as comments
        from   comment_groups join comments using (account_id, week, question_id, position)
        where  account_id = ${world.accountId} and group_id = ${groupId} and text like '%Kranen!'`;
      await word.click();
      await page
        .getByRole('status')
        .getByText(new RegExp(`^${planted?.comments} `))
        .waitFor();
      await settled(page);
      expect(await word.getAttribute('aria-pressed')).toBe('true');
      expect(new Set(await page.locator('main mark').allInnerTexts())).toEqual(new Set(['Kranen']));
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(variant.size.width);
      expect(await axeFaults(page)).toEqual([]);
      await page.getByRole('button', { name: /^(How words are chosen|Så väljs orden)$/ }).click();
      await page.getByRole('dialog').getByText('docs/administrators/comments.md').waitFor();
      expect(await axeFaults(page)).toEqual([]);
    }
  },
);
