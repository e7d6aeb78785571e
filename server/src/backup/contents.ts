// What a backup contains, and the checks of its JSON blocks, which may come from anywhere.
import type { Sequence, Table } from '../db/catalogue.ts';

/**
 * The first block. `program`: the version of Soundings that wrote it. `schema`: the last migration that had been applied. `keys`: the
 * names of the keys that the installation had, not the keys. `openWeeks`: how many weeks were open, whose answers are left out.
 */
export type Head = {
  program: string;
  schema: { version: number; name: string };
  createdAt: string;
  keys: { answers: { chain: string; epoch: number } | null; secrets: string | null };
  openWeeks: number;
  tables: Pick<Table, 'of' | 'name' | 'columns'>[];
};

/** The block after the rows of a table. `sha256`: of its rows in the format of COPY. */
export type TableEnd = { rows: number; bytes: number; sha256: string };

/** The last block. */
export type End = { sequences: Sequence[] };

/** Everything that `npx soundings verify` prints. `checksum`: of the whole file. */
export type Contents = Omit<Head, 'tables'> & {
  tables: ({ name: string } & TableEnd)[];
  rows: number;
  hasSecretsKey: boolean;
  checksum: string;
  /** The length of the file. */
  bytes: number;
};

/** Returns the summary of a backup that was written or read. `whole`: the checksum and length of the file. */
export function contentsOf(
  head: Head,
  tables: Contents['tables'],
  hasSecretsKey: boolean,
  whole: Pick<Contents, 'checksum' | 'bytes'>,
): Contents {
  const rows = tables.reduce((sum, one) => sum + one.rows, 0);
  return { ...head, tables, rows, hasSecretsKey, ...whole };
}

/** Returns the name of a table as texts show it. */
export const tableName = ({ of, name }: Pick<Table, 'of' | 'name'>): string =>
  of === 'jobs' ? `jobs.${name}` : name;

type Json = Record<string, unknown>;

/** Returns the object in a block; undefined if it is something else. */
function objectIn(bytes: Buffer): Json | undefined {
  try {
    const value = JSON.parse(bytes.toString('utf8')) as unknown;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the first block's contents; undefined if something in it is missing or has another form. */
export function headIn(bytes: Buffer): Head | undefined {
  const head = objectIn(bytes) as Partial<Head> | undefined;
  const isHead =
    head !== undefined &&
    isText(head.program, 100) &&
    isCount(head.schema?.version) &&
    isText(head.schema?.name, 200) &&
    isText(head.createdAt, 30) &&
    !Number.isNaN(Date.parse(head.createdAt)) &&
    isCount(head.openWeeks) &&
    isKeys(head.keys) &&
    isList(head.tables, isTable) &&
    new Set(head.tables.map(tableName)).size === head.tables.length;
  return isHead ? (head as Head) : undefined;
}

/** Returns the contents of the block after a table. */
export function tableEndIn(bytes: Buffer): TableEnd | undefined {
  const end = objectIn(bytes) as Partial<TableEnd> | undefined;
  const isEnd = end && isCount(end.rows) && isCount(end.bytes) && isText(end.sha256, 64);
  return isEnd ? (end as TableEnd) : undefined;
}

/** Returns the contents of the last block. */
export function endIn(bytes: Buffer): End | undefined {
  const end = objectIn(bytes) as Partial<End> | undefined;
  return end && isList(end.sequences, isSequence) ? (end as End) : undefined;
}

const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= longest && !value.includes('\0');
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isList = <T>(value: unknown, isOne: (one: Json) => boolean): value is T[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null && isOne(one as Json));
const isOwner = (value: unknown) => value === 'soundings' || value === 'jobs';
const isHex = (value: unknown) => typeof value === 'string' && /^[0-9a-f]{1,64}$/.test(value);

const isTable = ({ of, name, columns }: Json): boolean =>
  isOwner(of) &&
  isText(name, 63) &&
  Array.isArray(columns) &&
  columns.length > 0 &&
  columns.every((column) => isText(column, 63));

const isSequence = ({ of, name, last, isCalled }: Json): boolean =>
  isOwner(of) &&
  isText(name, 63) &&
  typeof last === 'string' &&
  /^\d{1,18}$/.test(last) &&
  typeof isCalled === 'boolean';

function isKeys(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { answers, secrets } = value as Json;
  const { chain, epoch } = (answers ?? {}) as Json;
  return (answers === null || (isHex(chain) && isCount(epoch))) && (secrets === null || isHex(secrets));
}
