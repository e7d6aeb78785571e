import { writeFile } from 'node:fs/promises';
import { test } from 'vitest';
import { openBrowser } from './testing/browser/browser.ts';
import { openConsole } from './testing/browser/console.ts';
import { settled } from './testing/browser/console-pages.ts';
import { openDemoWorld } from './testing/browser/demo-world.ts';
test('shots', { timeout: 400_000 }, async () => {
  const [world, browser] = await Promise.all([openDemoWorld(), openBrowser()]);
  const list = (process.env['SHOTS'] ?? '').split(' ');
  for (const one of list) {
    const [name, who, path] = one.split('|') as [string, string, string];
    for (const [language, colorScheme, size] of [['en', 'light', { width: 1440, height: 900 }], ['sv', 'dark', { width: 1440, height: 900 }], ['sv', 'light', { width: 390, height: 844 }], ['en', 'dark', { width: 390, height: 844 }]] as const) {
      const email = who === 'admin' ? world.administrator.email : world.manager.email;
      const page = await openConsole(world, browser, email, { path, language, colorScheme, size });
      await settled(page).catch(() => undefined);
      await page.waitForTimeout(1200);
      await page.screenshot({ path: `/tmp/f16/b/${name}-${language}-${colorScheme}-${size.width}.png`, fullPage: true });
      if (name === 'report' && language === 'en' && size.width > 1000) {
        for (const l of ['en', 'sv']) {
          const id = (await (await page.request.get('/api/results?language=en')).json()).group.id;
          const r = await page.request.get(`/api/results/groups/${id}/report.pdf?language=${l}`);
          await writeFile(`/tmp/f16/b/report-${l}.pdf`, await r.body());
        }
      }
      await page.context().close();
    }
  }
  await browser.close(); await world.close();
});
