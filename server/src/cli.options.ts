// What the commands of the soundings command are made of: their options, and how values and tables are read and written.
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { type Week, weekNamed } from '@soundings/contract/weeks.ts';
import type { Pool } from './db/db.ts';
import type { AnswerKeys } from './sealing/answer-keys.ts';

export type Values = Record<string, string | boolean | string[] | undefined>;
export type Command = {
  usage: string;
  options: NonNullable<ParseArgsConfig['options']>;
  /** What stands without a name, such as FILE: it goes into the values by this name. */
  positional?: string;
  /** It reads a secret from standard input. A word too many may be that secret, and is not repeated. */
  readsSecret?: true;
  /** Returns what --json prints; `say` makes the words for people of it. */
  run: (pool: Pool, values: Values, keys: AnswerKeys) => Promise<unknown>;
  /** False: it changes nothing, or what it calls writes the audit log itself. */
  isLogged?: false;
  /** Its connections, when two are not enough. */
  connect?: (databaseUrl: string) => Promise<Pool>;
  say: (result: never) => string | Promise<string>;
};

/** Wrong use of the command itself: exit status 2. */
export class UsageError extends Error {}

export const text = { type: 'string' } as const;
export const list = { type: 'string', multiple: true } as const;
export const flag = { type: 'boolean' } as const;
export const account = { account: text };

export function needed(values: Values, option: string): string {
  const value = values[option];
  if (typeof value !== 'string') throw new UsageError(`--${option} is missing.`);
  return value;
}

export const accountOf = (values: Values) => numberOf(values, 'account');
export const numberOf = (values: Values, option: string) => wholeNumber(needed(values, option), option);

export function wholeNumber(value: string, option: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`--${option} takes a whole number, not "${value}".`);
  return Number(value);
}

export function trueOrFalse(values: Values, option: string): boolean {
  const value = needed(values, option);
  if (value !== 'true' && value !== 'false')
    throw new UsageError(`--${option} takes true or false, not "${value}".`);
  return value === 'true';
}

export function onOrOff(values: Values, option: string): boolean {
  const value = needed(values, option);
  if (value !== 'on' && value !== 'off') throw new UsageError(`--${option} takes on or off, not "${value}".`);
  return value === 'on';
}

/** The week that an option names, if it is given. */
export function weekOf(values: Values): Week | undefined {
  if (values['week'] === undefined) return undefined;
  const name = String(values['week']);
  const week = weekNamed(name);
  if (week === undefined) throw new UsageError(`--week takes an ISO week such as 2026-W47, not "${name}".`);
  return week;
}

export const commaList = (value: string) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Of an option that may be given several times, each with several values between commas. */
export const listOf = (values: Values, option: string) =>
  ((values[option] as string[] | undefined) ?? []).flatMap(commaList);

export const numbersOf = (values: Values, option: string) =>
  listOf(values, option).map((one) => wholeNumber(one, option));

export const moment = (at: Date | null) => at?.toISOString().slice(0, 16).replace('T', ' ') ?? '';

export function table(rows: string[][]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Reads what follows the name of a command. `help`: what is said of it when it is used wrongly. */
export function readOptions(command: Command, args: string[], help: string): Values {
  try {
    const { positional } = command;
    const options = { ...command.options, json: flag };
    const read = parseArgs({ args, options, strict: true, allowPositionals: positional !== undefined });
    if (positional === undefined) return read.values;
    const [one, ...more] = read.positionals;
    if (one === undefined || more.length > 0) throw new Error(`It takes one ${positional}.`);
    return { ...read.values, [positional]: one };
  } catch (error) {
    throw new UsageError(`${wrongUse(command, error as Error & { code?: string })}\n${help}`);
  }
}

const wrongUse = ({ readsSecret }: Command, { code, message }: { code?: string; message: string }) =>
  readsSecret && code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL'
    ? 'It has a word too many. The secret is read from standard input.'
    : message;
