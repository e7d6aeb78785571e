// The thread for the template of sandboxes: simulates the weeks of the demo company, which takes up to a minute.
import { openLog } from './base/log.ts';
import { retryLostConnections } from './db/db.ts';
import { createTemplateAccount, fillTemplate } from './demo/template.ts';
import { serveThread } from './jobs/threads.ts';
import { recordTemplate, type TemplateWork } from './sandboxes/template.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { openSimulationPool } from './simulation/simulation.ts';

retryLostConnections(() => {});
serveThread(async ({ databaseUrl, answerKeys, template, logLevel }: TemplateWork) => {
  const pool = openSimulationPool(databaseUrl);
  const keys = new AnswerKeys(pool, answerKeys);
  // Loaded only here, because no other thread serves anything.
  const { startAnswering } = await import('./app.ts');
  try {
    await keys.chain.prepare();
    await recordTemplate(pool, template, {
      create: createTemplateAccount,
      fill: (id, onWeek) =>
        fillTemplate(
          {
            pool,
            keys,
            serve: (pages, pageKeys, now) =>
              startAnswering({ pool: pages, keys: pageKeys, now }, openLog(logLevel)),
          },
          id,
          template.weeks,
          onWeek,
        ),
    });
  } finally {
    await pool.end({ timeout: 5 });
  }
});
