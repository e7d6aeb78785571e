// The log: one JSON object a line on standard output (standard error for commands). Tokens, names and bodies
// never go in; what is logged is named at each call.
import pino from 'pino';
import type { LogLevel } from './config.ts';

export type Log = pino.Logger;

/** A log that writes to a file descriptor: 1 is standard output. */
export function openLog(level: LogLevel, descriptor = 1): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: errorWords, cause: errorWords },
    },
    pino.destination({ dest: descriptor, sync: true }),
  );
}

/** An error without its other properties: those of the database driver can hold what somebody sent. */
function errorWords(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return {
    type: error.name,
    code: (error as NodeJS.ErrnoException).code,
    message: error.message,
    stack: error.stack,
  };
}
