// What all commands share: the type of a command, reading options, and printing tables.
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { type Week, weekNamed } from '@soundings/contract/weeks.ts';
import type { Pool } from '../db/db.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';

export type OptionValues = Record<string, string | boolean | string[] | undefined>;
export type Command = {
  usage: string;
  options: NonNullable<ParseArgsConfig['options']>;
  /** The name of the positional argument, such as FILE. Its value is stored under this name. */
  positional?: string;
  /** The command reads a secret from standard input. An unexpected argument may be that secret, so errors do not repeat it. */
  readsSecret?: true;
  /** False if the command changes nothing, or the code it calls writes to the audit log. */
  isLogged?: false;
  /** False if the command works with a database of any version, and must not update it. */
  migratesFirst?: false;
  /** Whether the text goes to standard error, because the command writes something else to standard output. */
  textToErrors?: (values: OptionValues) => boolean;
  /** Opens a connection pool if two connections are not enough. */
  connect?: (databaseUrl: string) => Promise<Pool>;
  format: (result: never) => string | Promise<string>;
  /** Whether the exit status is 1 although the command has a result. */
  isFailure?: (result: never) => boolean;
  /** The exit status, if it can also be 2. */
  statusOf?: (result: never) => 0 | 2;
  /** The exit status after incorrect usage, if 2 has another meaning. */
  usageStatus?: 1;
} & (
  | {
      /** Returns what --json prints. `format` turns it into text. `input` reads standard input to its end. */
      run: (
        pool: Pool,
        values: OptionValues,
        keys: AnswerKeys,
        input: () => string,
        databaseUrl: string,
      ) => Promise<unknown>;
      runAlone?: never;
    }
  | {
      /** The same for a command that needs no database. */
      runAlone: (values: OptionValues) => Promise<unknown>;
      run?: never;
    }
);

/** Incorrect usage of the command. Exit status 2, unless the command uses it for something else (`usageStatus`). */
export class UsageError extends Error {}

export const text = { type: 'string' } as const;
export const list = { type: 'string', multiple: true } as const;
export const flag = { type: 'boolean' } as const;
export const account = { account: text };

export function required(values: OptionValues, option: string): string {
  const value = values[option];
  if (typeof value !== 'string') throw new UsageError(`--${option} is required.`);
  return value;
}

export const accountOf = (values: OptionValues) => numberOf(values, 'account');
export const numberOf = (values: OptionValues, option: string) =>
  wholeNumber(required(values, option), option);

export function wholeNumber(value: string, option: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new UsageError(`--${option} must be a whole number, not "${value}".`);
  return Number(value);
}

export function trueOrFalse(values: OptionValues, option: string): boolean {
  const value = required(values, option);
  if (value !== 'true' && value !== 'false')
    throw new UsageError(`--${option} must be true or false, not "${value}".`);
  return value === 'true';
}

export function onOrOff(values: OptionValues, option: string): boolean {
  const value = required(values, option);
  if (value !== 'on' && value !== 'off')
    throw new UsageError(`--${option} must be on or off, not "${value}".`);
  return value === 'on';
}

/** Returns the week of the --week option, if given. */
export function weekOption(values: OptionValues): Week | undefined {
  if (values['week'] === undefined) return undefined;
  const name = String(values['week']);
  const week = weekNamed(name);
  if (week === undefined) throw new UsageError(`--week must be an ISO week such as 2026-W47, not "${name}".`);
  return week;
}

/** Returns an option that has one of these values, if given. */
export function oneOf<const T extends string>(
  values: OptionValues,
  option: string,
  allowed: readonly T[],
): T | undefined {
  const value = values[option];
  if (value === undefined || allowed.includes(value as T)) return value as T | undefined;
  throw new UsageError(`--${option} must be one of ${allowed.join(', ')}, not "${String(value)}".`);
}

/** Returns the language of a report or an export. */
export const languageOption = (values: OptionValues) => oneOf(values, 'language', ['en', 'sv']) ?? 'en';

export const commaList = (value: string) =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Returns the values of an option that can be repeated and can contain commas. */
export const listOf = (values: OptionValues, option: string) =>
  ((values[option] as string[] | undefined) ?? []).flatMap(commaList);

export const numbersOf = (values: OptionValues, option: string) =>
  listOf(values, option).map((one) => wholeNumber(one, option));

export const minuteText = (at: Date | null) => at?.toISOString().slice(0, 16).replace('T', ' ') ?? '';

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

/** Reads the options of a command. Usage errors end with `help`. */
export function readOptions(command: Command, args: string[], help: string): OptionValues {
  try {
    const { positional } = command;
    const options = { ...command.options, json: flag };
    const read = parseArgs({ args, options, strict: true, allowPositionals: positional !== undefined });
    if (positional === undefined) return read.values;
    const [one, ...more] = read.positionals;
    if (one === undefined || more.length > 0)
      throw new Error(`This command needs exactly one ${positional}.`);
    return { ...read.values, [positional]: one };
  } catch (error) {
    throw new UsageError(`${usageMessage(command, error as Error & { code?: string })}\n${help}`);
  }
}

const usageMessage = ({ readsSecret }: Command, { code, message }: { code?: string; message: string }) =>
  readsSecret && code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL'
    ? 'Unexpected argument. The secret is read from standard input.'
    : message;
