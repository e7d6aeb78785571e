// The log: one JSON object per line on standard output (standard error for commands). Tokens, names and request bodies are never
// logged; each call lists exactly what it logs.
import pino from 'pino';
import type { LogLevel } from './config.ts';

export type Log = pino.Logger;

/** Opens a log that writes to a file descriptor; 1 is standard output. */
export function openLog(level: LogLevel, descriptor = 1): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: withoutProperties, cause: withoutProperties },
    },
    pino.destination({ dest: descriptor, sync: true }),
  );
}

/** Returns only the name, code, message and stack of an error. Other properties of database errors can contain personal data. */
function withoutProperties(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return {
    type: error.name,
    code: (error as NodeJS.ErrnoException).code,
    message: error.message,
    stack: error.stack,
  };
}
