// Pushes of one account wait for each other, within limits. Pushes of other accounts do not wait for them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { maxPartBytes } from '@soundings/contract/limits.ts';
import { expect, onTestFinished, test } from 'vitest';
import { openLog } from '../base/log.ts';
import { until } from '../testing/until.ts';
import { openPushes, type PushLimits, type Pushes } from './pushes.ts';

const run = { id: '', source: 'api', tokenId: null, file: null, address: null } as const;
const never = new AbortController().signal;
const roomy: PushLimits = {
  running: 8,
  waiting: 10,
  timeout: 60_000,
  commits: 2,
  bytes: 1e8,
  bytesOfAccount: 1e8,
};
const large = ' '.repeat(2_000_000);

function open(limits: Partial<PushLimits> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'pushes-'));
  const blocker = join(folder, 'blocker');
  writeFileSync(blocker, '');
  const thread = new URL('../testing/pushes.thread.ts', import.meta.url);
  const pushes = openPushes(thread, blocker, openLog('silent' as 'error'), { ...roomy, ...limits });
  const unblock = () => rmSync(blocker, { force: true });
  onTestFinished(async () => {
    unblock();
    await pushes.close(0);
    rmSync(folder, { recursive: true });
  });
  return { pushes, unblock };
}

const push = async (pushes: Pushes, accountId: number, text: string, gone = never) =>
  Buffer.from(await pushes.push(accountId, { run, bytes: Buffer.from(text), gzip: false }, gone)).toString();

test('pushes of other accounts are processed while the push of one account computes', async () => {
  const { pushes, unblock } = open();
  const computing = push(pushes, 1, `compute${large}`);
  expect(await push(pushes, 2, 'small')).toBe('small');
  expect(await push(pushes, 3, large)).toBe('');
  unblock();
  expect(await computing).toBe('compute');
});

test('a thread gets the memory of a body, but not memory that others may use', async () => {
  const { pushes } = open();
  const alone = Buffer.from(new TextEncoder().encode('alone').buffer);
  expect((await pushes.push(1, { run, bytes: alone, gzip: false }, never)).length).toBe(5);
  expect(alone.length).toBe(0);
  const all = Buffer.from(new TextEncoder().encode('shared by two').buffer);
  const part = all.subarray(0, 6);
  expect((await pushes.push(1, { run, bytes: part, gzip: false }, never)).length).toBe(6);
  expect([part.toString(), all.toString()]).toEqual(['shared', 'shared by two']);
});

test('a gzip body counts with its largest possible decompressed size', async () => {
  const { pushes, unblock } = open();
  const bytes = Buffer.from(`compute${' '.repeat(2_000)}`);
  const computing = pushes.push(1, { run, bytes, gzip: true }, never);
  expect(await push(pushes, 2, 'small')).toBe('small');
  unblock();
  await computing;
});

test('pushes of one account wait for each other, and one above the limit is refused at once', async () => {
  const { pushes } = open({ waiting: 2 });
  const gone = new AbortController();
  const first = push(pushes, 1, 'lock', gone.signal);
  const waiting = [push(pushes, 1, 'b'), push(pushes, 1, 'c')];
  await expect(push(pushes, 1, 'd')).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('2 organization requests waiting'),
  });
  expect(await push(pushes, 2, 'other')).toBe('other');
  gone.abort();
  await expect(first).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await Promise.all(waiting)).toEqual(['b', 'c']);
  expect(await push(pushes, 1, 'seen')).toBe('lock other b c seen');
});

test('a push that has waited too long is refused and not processed', async () => {
  const { pushes } = open({ timeout: 5 });
  const gone = new AbortController();
  const first = push(pushes, 1, 'lock', gone.signal);
  await expect(push(pushes, 1, 'late')).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('not started'),
  });
  gone.abort();
  await expect(first).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await push(pushes, 1, 'seen')).toBe('lock seen');
});

test('a waiting push is not processed if its client disconnects', async () => {
  const { pushes } = open();
  const [gone, alsoGone] = [new AbortController(), new AbortController()];
  const first = push(pushes, 1, 'lock', alsoGone.signal);
  const left = push(pushes, 1, 'left', gone.signal);
  const stays = push(pushes, 1, 'stays');
  gone.abort();
  await expect(left).rejects.toMatchObject({ kind: 'unavailable' });
  alsoGone.abort();
  await expect(first).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await stays).toBe('stays');
  expect(await push(pushes, 1, 'seen')).toBe('lock stays seen');
});

test('the bodies of one account leave memory for those of others', async () => {
  const { pushes } = open({ bytes: 5_000_000, bytesOfAccount: 3_000_000 });
  const gone = new AbortController();
  const first = push(pushes, 1, `lock${large}`, gone.signal);
  await expect(push(pushes, 1, large)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await push(pushes, 2, large)).toBe('');
  gone.abort();
  await expect(first).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await push(pushes, 1, large)).toBe('');
});

test('decompressed bytes count. A request that can not grow ends, and leaves its memory to the others', async () => {
  const { pushes } = open({ bytes: 5_000_000, bytesOfAccount: 3_000_000 });
  const gone = new AbortController();
  const grown = [1, 2].map((account) => push(pushes, account, 'grow 2000000', gone.signal));
  await until(async () => (await push(pushes, 9, 'seen')).split('grow 2000000').length === 3);
  expect(await push(pushes, 3, 'grow 2000000')).toBe('no memory');
  await expect(push(pushes, 4, large)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await push(pushes, 4, 'small')).toBe('small');
  gone.abort();
  await Promise.allSettled(grown);
  expect(await push(pushes, 1, 'grow 4000000')).toBe('no memory');
  expect(await push(pushes, 4, large)).toBe('');
});

const tooMany = 'Too many large requests are being processed. Try again in a moment.';
const disconnected = 'The client disconnected before its request was applied.';

/** Opens pushes with memory for a number of bytes. Returns a function that sends one and returns its end, also as a failure, until `gone`. */
function openEnding(bytes: number) {
  const { pushes } = open({ bytes, bytesOfAccount: bytes });
  const gone = new AbortController();
  const send = (accountId: number, text: string) =>
    push(pushes, accountId, text, gone.signal).catch(({ message }: Error) => message);
  return { pushes, gone, send };
}

test('a running request that grows ends the last of those that wait, of the account that uses most memory', async () => {
  const { gone, send } = openEnding(7_000_000);
  const running = [send(1, 'lock'), send(2, 'lock')];
  const [first, last, other] = [send(1, large), send(1, large), send(2, large)];
  const growing = send(3, 'grow 2000000');
  expect(await last).toBe(tooMany);
  // The others have their memory, and no more is left.
  expect(await send(4, large)).toBe(tooMany);
  expect(await send(5, 'seen')).toBe('lock lock grow 2000000 seen');
  gone.abort();
  expect(new Set(await Promise.all([...running, first, other, growing]))).toEqual(new Set([disconnected]));
});

test('a running request that can not grow even without those that wait ends, and they go on waiting', async () => {
  const { gone, send } = openEnding(5_000_000);
  const [running, waiting] = [send(1, 'lock'), send(1, large)];
  expect(await send(2, 'grow 6000000')).toBe('no memory');
  expect(await send(3, `${large}${large}`)).toBe(tooMany);
  gone.abort();
  expect(await Promise.all([running, waiting])).toEqual([disconnected, disconnected]);
});

test('a commit that waits, which was accepted before, does not end because of a running request', async () => {
  const { pushes, gone, send } = openEnding(2 * maxPartBytes + 1_000_000);
  const commits = [1, 2].map(() =>
    pushes.push(1, { run, bytes: Buffer.from('lock'), gzip: false, partOf: 'commit' }, gone.signal),
  );
  expect(await send(2, 'grow 2000000')).toBe('no memory');
  gone.abort();
  expect(await Promise.allSettled(commits)).toMatchObject(
    [1, 2].map(() => ({ reason: { message: disconnected } })),
  );
});
