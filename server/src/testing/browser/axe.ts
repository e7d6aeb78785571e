// Accessibility faults that axe-core finds in a page: the rules of WCAG 2.2 at A and AA, and best practices.
import axe from 'axe-core';
import type { Page } from 'playwright-core';

const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/**
 * Returns each fault as a line, of all rules or of some. The elements that Base UI puts around an open popup to keep the focus
 * inside are ignored, because no user reaches them. The rule that a popup must be in a landmark is ignored too.
 */
export async function axeFaults(page: Page, rules?: string[]): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`typeof axe === 'object'`))) await page.evaluate(axe.source);
  return page.evaluate<string[]>(`(async () => {
    const guard = '[data-base-ui-focus-guard]';
    const isOpen = document.querySelector(guard) !== null;
    const { violations } = await axe.run(
      { include: [['html']], exclude: isOpen ? [[guard]] : [] },
      {
        runOnly: ${JSON.stringify(rules ?? tags)},
        rules: isOpen && ${rules === undefined} ? { region: { enabled: false } } : {},
        resultTypes: ['violations'],
        preload: false,
      },
    );
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200)));
  })()`);
}
