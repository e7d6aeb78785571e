// What a confined process may try, for tests: named by its argument.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';

const input = await buffer(process.stdin);
const kept: unknown[] = [];
const tries: Record<string, () => void> = {
  answer: () => process.stdout.write(input.toString().toUpperCase()),
  loop: () => {
    for (;;) kept.length = 0;
  },
  'fill the heap': () => {
    for (;;) kept.push(Array.from({ length: 1000 }, (_, i) => ({ i })));
  },
  'fill other memory': () => {
    for (;;) kept.push(Buffer.alloc(1_000_000, 1));
  },
  flood: () => {
    for (let i = 0; i < 1000; i++) process.stdout.write('x'.repeat(100_000));
  },
  die: () => process.kill(process.pid, 'SIGTERM'),
  fail: () => {
    throw new Error('A defect');
  },
  'look around': () => {
    const found = { env: Object.keys(process.env), folder: process.cwd(), arguments: process.execArgv };
    process.stdout.write(JSON.stringify(found));
  },
  write: () => writeFileSync('/tmp/confined', 'x'),
  spawn: () => {
    throw spawnSync('true').error ?? new Error('It was started.');
  },
  evaluate: () => process.stdout.write(String(new Function('return 1')())),
};
tries[process.argv[2] ?? '']?.();
