// Who may read the metrics, and what they say.
import { expect, onTestFinished, test } from 'vitest';
import { openWorld, type testConfig } from '../testing/world.ts';

async function world(settings: Partial<typeof testConfig> = {}) {
  const made = await openWorld(undefined, settings);
  onTestFinished(() => made.close());
  return made;
}
const read = async (address: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${address}/metrics`, { headers });
  return { status: answer.status, text: await answer.text() };
};

test('the machine itself reads the process, requests by the pattern of their address, and what is waiting', async () => {
  const { address } = await world();
  await fetch(`${address}/v1/kpis/secret-name/values?groupId=1`);
  const { status, text } = await read(address);
  expect(status).toBe(200);
  expect(text).toMatch(/^soundings_process_resident_memory_bytes \d+$/m);
  expect(text).toContain('route="/v1/kpis/:kpiId/values",status="401"');
  expect(text).toContain('soundings_waiting{what="files"} 0');
  expect(text).toContain('soundings_waiting{what="messages"} 0');
  expect(text).not.toContain('secret-name');
});

test('behind a proxy the token alone opens them', async () => {
  const { address } = await world({ trustProxy: ['127.0.0.1'], metricsToken: 'secret' });
  expect((await read(address)).status).toBe(404);
  expect((await read(address, { authorization: 'Bearer other' })).status).toBe(404);
  expect((await read(address, { authorization: 'Bearer secret' })).status).toBe(200);
});
