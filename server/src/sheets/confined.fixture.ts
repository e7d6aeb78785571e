// A confined process for tests. Its argument selects what it tries to do.
import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect, createServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';

const input = await buffer(process.stdin);
const memory: unknown[] = [];
const actions: Record<string, () => void> = {
  reply: () => process.stdout.write(input.toString().toUpperCase()),
  loop: () => {
    for (;;) memory.length = 0;
  },
  'fill the heap': () => {
    for (;;) memory.push(Array.from({ length: 1000 }, (_, i) => ({ i })));
  },
  'fill other memory': () => {
    for (;;) memory.push(Buffer.alloc(1_000_000, 1));
  },
  flood: () => {
    for (let i = 0; i < 1000; i++) process.stdout.write('x'.repeat(100_000));
  },
  die: () => process.kill(process.pid, 'SIGTERM'),
  fail: () => {
    throw new Error('A defect');
  },
  'show its environment': () => {
    const found = { env: Object.keys(process.env), folder: process.cwd(), arguments: process.execArgv };
    process.stdout.write(JSON.stringify(found));
  },
  write: () => writeFileSync('/tmp/confined', 'x'),
  spawn: () => {
    throw spawnSync('true').error ?? new Error('The process was started.');
  },
  read: () => process.stdout.write(readFileSync(process.argv[3] ?? '')),
  connect: () => connect(9, '127.0.0.1'),
  listen: () => createServer().listen(0),
  'send a datagram': () => createSocket('udp4').send('x', 9, '127.0.0.1'),
  'resolve a host name': () => lookup('localhost', () => process.stdout.write('found')),
  'send an HTTP request': () => get('http://127.0.0.1:9/'),
  fetch: () =>
    void fetch('http://127.0.0.1:8/').catch((error: Error) => {
      throw error.cause;
    }),
  'start a thread': () => new Worker('process.exit()', { eval: true }),
  'load an internal binding': () =>
    (process as unknown as { binding: (name: string) => void }).binding('tcp_wrap'),
  'get a built-in module': () => process.getBuiltinModule('node:net').connect(9, '127.0.0.1'),
  evaluate: () => process.stdout.write(String(new Function('return 1')())),
};
actions[process.argv[2] ?? '']?.();
