// What the process that reads uploaded files is allowed to do, and how it ends when it exceeds its limits.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Limits, runConfined } from './confined.ts';

const wide: Limits = { memory: 400e6, heap: 200e6, milliseconds: 30_000, output: 1e6 };
const run = (action: string, limits: Partial<Limits> = {}, input = '', argument = '') =>
  runConfined(new URL('confined.fixture.ts', import.meta.url), [action, argument], Buffer.from(input), {
    ...wide,
    ...limits,
  });

test('receives its input and returns its output', async () => {
  expect(await run('reply', {}, 'abc')).toEqual({ output: Buffer.from('ABC') });
});

describe('is ended, and reports why', () => {
  test('when its time is up', async () => {
    expect(await run('loop', { milliseconds: 500 })).toEqual({ end: 'time' });
  });

  test('when its heap is full', async () => {
    expect(await run('fill the heap', { heap: 40e6, memory: 1e9 })).toEqual({ end: 'memory' });
  });

  test.skipIf(!existsSync('/proc/self/status'))('when its total memory is full', async () => {
    expect(await run('fill other memory', { memory: 200e6 })).toEqual({ end: 'memory' });
  });

  test('when its output is too long', async () => {
    expect(await run('flood')).toEqual({ end: 'output' });
  });

  test('when something else kills it', async () => {
    expect(await run('die')).toEqual({ end: 'stopped' });
  });
});

test('throws a defect with its message', async () => {
  await expect(run('fail')).rejects.toThrow(/exited with code 1: [^]*A defect/);
});

describe('cannot', () => {
  test('see our environment or folder', async () => {
    const { output } = (await run('show its environment')) as { output: Buffer };
    expect(JSON.parse(output.toString())).toMatchObject({ env: ['TZ'], folder: '/' });
  });

  test.each([
    'write',
    'spawn',
    'connect',
    'listen',
    'send a datagram',
    'resolve a host name',
    'send an HTTP request',
    'fetch',
    'start a thread',
    'load an internal binding',
    'get a built-in module',
  ])('%s', async (action) => {
    await expect(run(action)).rejects.toThrow('ERR_ACCESS_DENIED');
  });

  test('read files outside its own program', async () => {
    const checkout = fileURLToPath(new URL('../../../', import.meta.url));
    for (const path of [
      '/etc/passwd',
      '/proc/self/environ',
      `${checkout}README.md`,
      `${checkout}data/keys/answers`,
    ])
      await expect(run('read', {}, '', path)).rejects.toThrow('ERR_ACCESS_DENIED');
  });

  test('evaluate text as code', async () => {
    await expect(run('evaluate')).rejects.toThrow('EvalError');
  });
});
