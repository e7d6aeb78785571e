// Who may read the metrics, and what they contain.
import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';
import { openWorld, type testConfig } from '../testing/world.ts';
import { type MeasuredFacts, serveMetrics } from './metrics.ts';

async function world(settings: Partial<typeof testConfig> = {}) {
  const opened = await openWorld(undefined, settings);
  onTestFinished(() => opened.close());
  return opened;
}
const none: MeasuredFacts = {
  waiting: {},
  deadJobs: 0,
  overdueWeeks: 0,
  disk: undefined,
  database: { bytes: 0 },
  lastBackup: null,
  missingKeys: {},
};
const read = async (address: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${address}/metrics`, { headers });
  return { status: response.status, text: await response.text() };
};

test('requests from this machine get metrics of the process, of requests by route pattern, and of what waits', async () => {
  const { address } = await world();
  await fetch(`${address}/v1/kpis/secret-name/values?groupId=1`);
  const { status, text } = await read(address);
  expect(status).toBe(200);
  expect(text).toMatch(/^soundings_process_resident_memory_bytes \d+$/m);
  expect(text).toContain('route="/v1/kpis/:kpiId/values",status="401"');
  expect(text).toContain('soundings_waiting{what="files"} 0');
  expect(text).toContain('soundings_waiting{what="messages"} 0');
  expect(text).toContain('soundings_oldest_waiting_seconds{what="files"} 0');
  expect(text).toContain('soundings_oldest_waiting_seconds{what="messages"} 0');
  expect(text).toContain('soundings_dead_jobs 0');
  expect(text).toMatch(/^soundings_build_info\{version="\d/m);
  expect(text).toContain('soundings_late_closings 0');
  expect(text).toContain('soundings_waiting{what="pending runs"} 0');
  expect(text).toMatch(/^soundings_oldest_waiting_seconds\{what="jobs"\} \d/m);
  expect(text).toMatch(/^soundings_database_size_bytes [1-9]/m);
  expect(text).toMatch(/^soundings_disk_free_bytes [1-9]/m);
  expect(text).toContain('soundings_last_backup_timestamp_seconds 0');
  expect(text).toContain('soundings_key_missing{key="answer"} 0');
  expect(text).not.toContain('secret-name');
});

test('the age of the oldest waiting item and the dead jobs are current', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  let count = 2;
  const facts = async () => ({
    ...none,
    waiting: { files: { count, oldestSeconds: 30 * count } },
    deadJobs: count,
  });
  serveMetrics(app, { token: undefined, isProxied: () => false, facts });
  for (const now of [2, 1]) {
    count = now;
    const { body } = await app.inject('/metrics');
    expect(body).toContain(`soundings_oldest_waiting_seconds{what="files"} ${30 * now}`);
    expect(body).toContain(`soundings_dead_jobs ${now}`);
  }
});

test('behind a proxy, reading them requires the token', async () => {
  const { address } = await world({ trustProxy: ['127.0.0.1'], metricsToken: 'secret' });
  expect((await read(address)).status).toBe(404);
  expect((await read(address, { authorization: 'Bearer other' })).status).toBe(404);
  expect((await read(address, { authorization: 'Bearer secret' })).status).toBe(200);
});

test('requests to answering pages, reminder links and the ways in by card are not counted: the numbers would reveal how many have answered so far', async () => {
  const { address } = await world();
  for (const path of ['/a/x/answers', '/a/x', '/r/x', '/go', '/k/x', '/k/x/open'])
    for (const method of ['GET', 'POST'])
      await fetch(`${address}${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        body: method === 'POST' ? '{}' : null,
      });
  const { text } = await read(address);
  expect(text).not.toMatch(/route="\/(a|r|k|go)[/"]/);
});

test('failed requests to answering pages are counted', async () => {
  const app = Fastify();
  onTestFinished(() => app.close());
  serveMetrics(app, { token: undefined, isProxied: () => false, facts: async () => none });
  app.post('/a/:link/answers', async (_, reply) => reply.code(503).send());
  app.get('/a/:link', async () => 'page');
  app.get('/audit', async () => 'other');
  for (const [method, url] of [
    ['POST', '/a/x/answers'],
    ['GET', '/a/x'],
    ['GET', '/audit'],
  ] as const)
    await app.inject({ method, url });
  const { body } = await app.inject('/metrics');
  expect(body).toContain('count{method="POST",route="/a/:link/answers",status="503"} 1');
  expect(body).toContain('count{method="GET",route="/audit",status="200"} 1');
  expect(body).not.toContain('route="/a/:link",');
});
