// A thread that processes pushes of texts, for the tests of pushes.ts: "compute" blocks it until the blocker file is deleted,
// "lock" waits until its client has disconnected, and so does "grow", after it has grown by a number of bytes.
import { existsSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { Gone, Growth, GrowthEnd, Job, JobEnd } from '../sync/pushes.ts';

const blocker = (workerData as { databaseUrl: string }).databaseUrl;
const clock = new Int32Array(new SharedArrayBuffer(4));
const locked = new Set<number>();
const seen: string[] = [];

const respond = (end: JobEnd) => parentPort?.postMessage(end);
const report = (job: number, text: string) => respond({ job, report: Buffer.from(text) });

parentPort?.on('message', (message: Job | Gone | GrowthEnd) => {
  if ('grown' in message)
    return void (message.isGranted ? locked.add(message.grown) : report(message.grown, 'no memory'));
  if ('gone' in message) {
    const fault = { kind: 'unavailable', code: 'unavailable', message: 'not applied', details: [] } as const;
    if (locked.delete(message.gone)) respond({ job: message.gone, fault: { ...fault, details: [] } });
    return;
  }
  const text = Buffer.from(message.bytes).toString().trim();
  seen.push(text);
  if (text === 'lock') return void locked.add(message.job);
  if (text.startsWith('grow '))
    return parentPort?.postMessage({ job: message.job, grow: Number(text.slice(5)) } satisfies Growth);
  if (text === 'compute') while (existsSync(blocker)) Atomics.wait(clock, 0, 0, 5);
  report(message.job, text === 'seen' ? seen.join(' ') : text);
});
