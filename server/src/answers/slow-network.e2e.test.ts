// The answering page on an old phone over 3G: how many bytes it takes, and how long until the first question can be answered. The browser
// slows itself down: its network as its developer tools do for "Slow 3G" and "Fast 3G", and its processor by four and six times.
import { describe, expect, test } from 'vitest';
import { askPeople } from '../testing/asking.ts';
import { hasBrowser } from '../testing/browser/browser.ts';
import { until } from '../testing/until.ts';
import { keptAnswers } from '../testing/kept-answers.ts';
import { browser, useAnsweringBrowser, world } from './answering-browser.fixture.ts';

useAnsweringBrowser();

/** Bytes a second, and ms until a response begins. */
const networks = {
  'Slow 3G': { throughput: 50_000, latency: 2000 },
  'Fast 3G': { throughput: 180_000, latency: 562 },
};

/** Far above what docs/benchmarks.md says, because test machines are busy. In ms. */
const most = 20_000;

describe.skipIf(!hasBrowser())('the answering page (skipped: there is no Chromium on the PATH)', () => {
  test.each([
    ['Slow 3G', 6],
    ['Slow 3G', 4],
    ['Fast 3G', 6],
    ['Fast 3G', 4],
  ] as const)(
    'over %s with a processor %i times slower takes one small request and a few seconds',
    async (name, cpu) => {
      const { accountId, week, links } = await askPeople(world, (await world.account()).id, { count: 1 });
      const context = await browser.newContext({ viewport: { width: 360, height: 640 }, hasTouch: true });
      try {
        const page = await context.newPage();
        const session = await context.newCDPSession(page);
        let [bytes, requests] = [0, 0];
        session.on('Network.loadingFinished', ({ encodedDataLength }) => {
          bytes += encodedDataLength;
          requests++;
        });
        const { throughput, latency } = networks[name];
        await session.send('Network.enable');
        await session.send('Network.emulateNetworkConditions', {
          offline: false,
          latency,
          downloadThroughput: throughput,
          uploadThroughput: throughput,
        });
        await session.send('Emulation.setCPUThrottlingRate', { rate: cpu });
        const begun = performance.now();
        await page.goto(`${world.address}/a/${links[0]}`, { waitUntil: 'commit' });
        const option = page.locator('.card:visible label').first();
        await option.tap({ timeout: most });
        await until(
          () => page.evaluate<boolean>("document.querySelector('.card input:checked') !== null"),
          most,
        );
        const usable = performance.now() - begun;
        const page1 = { bytes, requests };
        // The answer is saved, too, without the person waiting for it.
        await page.locator('button[type=submit]:visible').first().tap();
        await until(async () => (await keptAnswers(world, accountId, week)).length > 0, most);
        const saved = performance.now() - begun;
        process.stdout.write(
          `${name}, processor ${cpu}× slower: ${page1.requests} request, ${(page1.bytes / 1000).toFixed(1)} kB, ` +
            `answerable after ${(usable / 1000).toFixed(1)} s, first answer saved after ${(saved / 1000).toFixed(1)} s\n`,
        );
        expect(page1.requests).toBe(1);
        expect(page1.bytes).toBeGreaterThan(1000);
        expect(page1.bytes).toBeLessThan(30_000);
        expect(usable).toBeGreaterThan(latency); // it was slowed down
        expect(usable).toBeLessThan(most);
      } finally {
        await context.close();
      }
    },
  );
});
