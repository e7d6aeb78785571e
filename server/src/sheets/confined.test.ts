// What a process may do that others' files are read in, and what becomes of one that does more.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Limits, runConfined } from './confined.ts';

const wide: Limits = { memory: 400e6, heap: 200e6, milliseconds: 30_000, output: 1e6 };
const run = (what: string, limits: Partial<Limits> = {}, input = '', more = '') =>
  runConfined(new URL('confined.fixture.ts', import.meta.url), [what, more], Buffer.from(input), {
    ...wide,
    ...limits,
  });

test('it gets its input, and its output comes back', async () => {
  expect(await run('answer', {}, 'abc')).toEqual({ output: Buffer.from('ABC') });
});

describe('it is ended, and that is told', () => {
  test('when its time is over', async () => {
    expect(await run('loop', { milliseconds: 500 })).toEqual({ end: 'time' });
  });

  test('when its heap is full', async () => {
    expect(await run('fill the heap', { heap: 40e6, memory: 1e9 })).toEqual({ end: 'memory' });
  });

  test.skipIf(!existsSync('/proc/self/status'))('when its memory of any kind is full', async () => {
    expect(await run('fill other memory', { memory: 200e6 })).toEqual({ end: 'memory' });
  });

  test('when its answer is too long', async () => {
    expect(await run('flood')).toEqual({ end: 'output' });
  });

  test('by somebody else', async () => {
    expect(await run('die')).toEqual({ end: 'stopped' });
  });
});

test('a defect is thrown, with what it says', async () => {
  await expect(run('fail')).rejects.toThrow(/exited with code 1: [^]*A defect/);
});

describe('it can not', () => {
  test('see our environment or folder', async () => {
    const { output } = (await run('look around')) as { output: Buffer };
    expect(JSON.parse(output.toString())).toMatchObject({ env: ['TZ'], folder: '/' });
  });

  test.each([
    'write',
    'spawn',
    'connect',
    'listen',
    'send a datagram',
    'look a name up',
    'ask by HTTP',
    'fetch',
    'start a thread',
    'bind itself',
    'find a module',
  ])('%s', async (what) => {
    await expect(run(what)).rejects.toThrow('ERR_ACCESS_DENIED');
  });

  test('read what is not of its program', async () => {
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
