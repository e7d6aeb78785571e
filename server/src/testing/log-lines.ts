// A log that keeps its lines, for tests that check what is logged.
import { Writable } from 'node:stream';
import pino from 'pino';
import type { Log } from '../base/log.ts';

export type LogLine = { level: number; msg: string } & Record<string, unknown>;

/** Opens a log from this level on. */
export function openLogLines(level = 'info'): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (chunk: Buffer, _: string, done: () => void) => {
    lines.push(JSON.parse(String(chunk)) as LogLine);
    done();
  };
  return { log: pino({ level }, new Writable({ write })) as Log, lines };
}
