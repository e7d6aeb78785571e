// Lays out tables written as text, for the tests of layout.ts.
import type { Detail } from '@soundings/contract/problem.ts';
import { expect } from 'vitest';
import type { JsonValue } from '../base/json/json.ts';
import { type Knowledge, layOut } from './layout.ts';
import type { Cell, Sheet } from '../sheets/sheet.ts';

// --- Tables as text: each line is a row, and | separates the cells. Tables with other values than text are arrays.

export type User = {
  externalId: string;
  accessInfo?: Record<string, JsonValue>;
  [field: string]: JsonValue | undefined;
};

export const tableOf = (text: string): Cell[][] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim() || null));

export const sheet = (table: string | Cell[][], name = ''): Sheet => ({
  name,
  rows: typeof table === 'string' ? tableOf(table) : table,
});

/** An account without users, groups and settings for its files. */
export const nothing: Knowledge = {
  attributes: [],
  allowedValues: new Map(),
  mappings: new Map(),
  values: new Map(),
  country: null,
  isThere: () => false,
};

export function lay(
  sheets: string | Cell[][] | Sheet[],
  attributes: string[] = [],
  knowledge: Partial<Knowledge> = {},
) {
  const faults: Detail[] = [];
  const warnings: Detail[] = [];
  const isSheets = Array.isArray(sheets) && sheets.some((one) => !Array.isArray(one));
  const laidOut = layOut(
    isSheets ? (sheets as Sheet[]) : [sheet(sheets as string | Cell[][])],
    { ...nothing, attributes, ...knowledge },
    { fault: (detail) => faults.push(detail), warn: (detail) => warnings.push(detail) },
  );
  return {
    laidOut,
    users: laidOut?.data.users as User[] | undefined,
    groups: laidOut?.data.groups,
    faults,
    warnings,
  };
}

/** Like `lay`, for a table without errors and warnings. */
export function layValid(...table: Parameters<typeof lay>) {
  const { faults, warnings, ...rest } = lay(...table);
  expect({ faults, warnings }).toEqual({ faults: [], warnings: [] });
  return rest;
}

/** Like `layValid`, with the settings of an account. */
export function layForAccount(table: string, knowledge: Partial<Knowledge>) {
  const { faults, warnings, ...rest } = lay(table, [], knowledge);
  expect({ faults, warnings }).toEqual({ faults: [], warnings: [] });
  return rest;
}

export const only = <T>(list: T[] | undefined): T => {
  expect(list).toHaveLength(1);
  return list![0] as T;
};
