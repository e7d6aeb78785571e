// The log: one JSON object a line on standard output (standard error for commands). Tokens, names and bodies
// never go in; what is logged is named at each call.
import pino from 'pino';
import type { LogLevel } from './config.ts';

export type Log = pino.Logger;

/** A log that writes to a file descriptor: 1 is standard output. */
export function openLog(level: LogLevel, descriptor = 1): Log {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: descriptor, sync: true }),
  );
}
