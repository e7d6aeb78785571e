// The console: runs and files. What organization requests and files asked for, what came of them, and how the columns of files
// are read. For administrators.
import { type Static, Type } from 'typebox';
import { operation } from './console.operation.ts';
import { maxNameLength, maxSheetColumns } from './limits.ts';
import type { Change, Settings, Summary } from './organization.ts';
import type { Detail } from './problem.ts';
import type { FileReport } from './storage.ts';
import {
  type columnMeanings,
  type RunOutcome,
  runOutcomes,
  type ValueField,
  valueFields,
  type ValueMeaning,
  valueMeanings,
} from './words.ts';

export type RunVia = 'https' | 'sftp' | 'console';

/** A run as lists show it. */
export type RunRow = {
  runId: string;
  /** ISO 8601. */
  at: string;
  source: 'api' | 'file';
  /** How a file came; null for requests, and where it is not known. */
  via: RunVia | null;
  /** The name of the token that asked. */
  token: string | null;
  /** Who sent the file from the console; null: nobody did, or somebody who is gone. */
  sentBy: string | null;
  file: string | null;
  validateOnly: boolean;
  outcome: RunOutcome;
  /** When a held one was approved or rejected. */
  decidedAt: string | null;
  summary: Summary | null;
  /** How many are listed: one more than can be listed means that there are more. */
  faults: number;
  warnings: number;
};

/** A fault or a warning with what to do about it, in the language that was asked for. */
export type RunFault = Detail & { remedy: string };

/** One of the six limits of a request: what it would do, and what its settings allow. */
export type RunLimit = { setting: keyof Settings; limit: number; count: number };

/** A group that the run would remove, or has removed, with how many weeks of results it has; null: they are gone. */
export type LostGroup = { externalId: string; name: string | null; weeks: number | null };

export type Run = RunRow & {
  /** In English, for the report. */
  message: string | null;
  settings: Settings | null;
  /** Who approved or rejected it; null: the soundings command, nobody in time, or somebody who is gone. */
  decidedBy: string | null;
  /** The file that it came of, while it is kept. */
  fileId: number | null;
  /** Empty where there is no summary. */
  limits: RunLimit[];
  /** Why it is held, or refused. */
  details: RunFault[];
  notices: RunFault[];
  /** Groups with results that are removed, at most a hundred. */
  lost: LostGroup[];
  lostCount: number;
  /** How many active people the account has. */
  people: number;
  /** People who are removed and manage groups, or are managers or administrators: the names of at most a hundred. */
  managersRemoved: { count: number; names: string[] };
  changeCount: number;
};

/** A change with the name of whom or what it is about, as far as it is known. */
export type RunChange = Change & {
  position: number;
  name: string | null;
  /** Of a group that is to be removed: the weeks of results that nobody sees afterwards. */
  weeks: number | null;
  /** Of a removed user or group: the externalId under which the same e-mail address, or name and parent, arrives. */
  arrivesAs: string | null;
};

export type FileState = FileReport['outcome'];

/** A file as lists show it. */
export type FileRow = {
  fileId: number;
  name: string;
  /** In bytes. */
  size: number;
  via: RunVia;
  token: string | null;
  sentBy: string | null;
  /** When it had arrived, whole; ISO 8601. */
  at: string;
  state: FileState;
  /** Of a waiting file: its place in the queue. 1 is next. */
  place: number | null;
  /** Whether its content is kept: not of an upload that was refused. */
  isKept: boolean;
  runId: string | null;
  summary: Summary | null;
  faults: number;
  warnings: number;
  /** It has columns or sheets that were not known: what they mean can be said. */
  hasUnknownColumns: boolean;
};

export type FilePage = FileRow & {
  message: string;
  details: RunFault[];
  notices: RunFault[];
};

export const mappingKinds = ['users', 'groups'] as const;
export type MappingKind = (typeof mappingKinds)[number];

export type ColumnMeaning = (typeof columnMeanings)[MappingKind][number];

/** Of which there may be several columns. */
export const repeatableMeanings: readonly string[] = [
  ...(['memberOf', 'groupName', 'adminOf', 'inheritedAdminOf', 'interestOf'] as const),
  ...(['isManager', 'manager', 'ignore'] as const),
];

const MappedColumn = Type.Object(
  {
    /** As it stands in the file. */
    header: Type.String({ minLength: 1, maxLength: 2 * maxNameLength }),
    /** A meaning, `attribute:` and a name, or `ignore`. */
    means: Type.String({ minLength: 1, maxLength: maxNameLength + 'attribute:'.length }),
  },
  { additionalProperties: false },
);
export type MappedColumn = Static<typeof MappedColumn>;

/** A sheet of a file, with what its columns are read as. */
export type SheetColumns = {
  /** Empty for a file that is one sheet. */
  sheet: string;
  /** The row of the headers, counted from 1. */
  row: number;
  kind: MappingKind;
  /** Whether its headers are read by a mapping that somebody has confirmed. */
  isMapped: boolean;
  /** Whether every column is known, and one has the ids. */
  isKnown: boolean;
  columns: SheetColumn[];
};

/** A column of a file, with what whoever says its meaning needs to know. */
export type SheetColumn = MappedColumn & {
  example: string | null;
  isKnown: boolean;
  /** What it could be read as, but another column is read as that. */
  couldBe: string | null;
  /** Its values with their counts, the most frequent first. Of very many only the most frequent that aren't known are listed. */
  values: ColumnValue[];
  /** How many different values it has; null: more than are counted, and none is listed. */
  valueCount: number | null;
  /** How many of its cells are phone numbers without a country prefix. */
  localNumbers: number;
};

export type ColumnValue = {
  value: string;
  count: number;
  /** What it means in a column of each field; null: it is not known. */
  means: Record<ValueField, ValueMeaning | null>;
  /** What it probably means there; null: nothing is probable. */
  proposed: Record<ValueField, ValueMeaning | null>;
};

export type FileColumns = {
  sheets: SheetColumns[];
  attributes: string[];
  /** The country of phone numbers without a country prefix; null: they are not read. */
  country: string | null;
};

const MappedSheet = Type.Object(
  {
    kind: Type.Enum(mappingKinds),
    columns: Type.Array(MappedColumn, { minItems: 1, maxItems: maxSheetColumns }),
  },
  { additionalProperties: false },
);
export type MappedSheet = Static<typeof MappedSheet>;

export type Mapping = {
  mappingId: number;
  kind: MappingKind;
  columns: MappedColumn[];
  /** Null: somebody who is gone. */
  confirmedBy: string | null;
  confirmedAt: string;
};

const MappedValue = Type.Object(
  {
    field: Type.Enum(valueFields),
    /** As it stands in the file; letter case does not count. */
    value: Type.String({ minLength: 1, maxLength: 200 }),
    means: Type.Enum([...new Set(valueFields.flatMap((field) => valueMeanings[field]))]),
  },
  { additionalProperties: false },
);
export type MappedValue = Static<typeof MappedValue>;

/** What a value of files means, as someone has confirmed. */
export type ValueMapping = MappedValue & {
  mappingId: number;
  /** Null: the soundings command, or somebody who is gone. */
  confirmedBy: string | null;
  confirmedAt: string;
};

const whole = Type.String({ pattern: '^\\d{1,7}$' });
const windowed = {
  offset: Type.Optional(whole),
  limit: Type.Optional(Type.String({ pattern: '^\\d{1,3}$' })),
};
const search = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));
const strict = { additionalProperties: false };
const language = Type.Enum(['en', 'sv']);

export const runsOperations = {
  /** The runs of the account, newest first. */
  'GET /runs': operation<{ total: number; rows: RunRow[] }>()({
    least: 'Administrator',
    query: Type.Object(
      {
        ...windowed,
        outcome: Type.Optional(Type.Enum(runOutcomes)),
        source: Type.Optional(Type.Enum(['api', 'file'])),
        dryRun: Type.Optional(Type.Enum(['true', 'false'])),
        search,
      },
      strict,
    ),
  }),
  'GET /runs/{runId}': operation<Run>()({
    least: 'Administrator',
    query: Type.Object({ language }, strict),
  }),
  /** What it changes, removals first. `total` counts those of the filter. */
  'GET /runs/{runId}/changes': operation<{ total: number; rows: RunChange[] }>()({
    least: 'Administrator',
    query: Type.Object(
      {
        ...windowed,
        action: Type.Optional(Type.Enum(['create', 'update', 'delete'])),
        entity: Type.Optional(Type.Enum(['user', 'group'])),
        search,
      },
      strict,
    ),
  }),
  /** Applies a held run: exactly what it showed. The numbers: how many people and groups it removes, as its approver was shown. */
  'POST /runs/{runId}/approval': operation()({
    least: 'Administrator',
    proof: true,
    body: Type.Object(
      { peopleRemoved: Type.Integer({ minimum: 0 }), groupsRemoved: Type.Integer({ minimum: 0 }) },
      strict,
    ),
  }),
  'POST /runs/{runId}/rejection': operation()({
    least: 'Administrator',
    body: Type.Object({}, strict),
  }),
  /** Downloads: the faulty rows with a reason, the changes, and the whole report. */
  'GET /runs/{runId}/faults.csv': operation()({
    least: 'Administrator',
    query: Type.Object({ language }, strict),
  }),
  'GET /runs/{runId}/changes.csv': operation()({ least: 'Administrator' }),
  'GET /runs/{runId}/report.json': operation()({ least: 'Administrator' }),

  /** The files of the account, newest first; and how many are under way. */
  'GET /files': operation<{ total: number; rows: FileRow[]; underWay: number }>()({
    least: 'Administrator',
    query: Type.Object({ ...windowed, search }, strict),
  }),
  /**
   * Takes a file, as the upload interface would: of the same names, types and sizes, and from the same addresses. Where files are
   * applied it needs the password, since they give roles and remove people.
   */
  'POST /files': operation<{ fileId: number; name: string }>()({
    least: 'Administrator',
    query: Type.Object({ name: Type.String({ minLength: 1, maxLength: 1000 }) }, strict),
    body: 'bytes',
  }),
  'GET /files/{fileId}': operation<FilePage>()({
    least: 'Administrator',
    query: Type.Object({ language }, strict),
  }),
  /** The columns of a file with an example of each. It reads the file, which may take seconds. */
  'GET /files/{fileId}/columns': operation<FileColumns>()({ least: 'Administrator' }),
  /**
   * Confirms what the columns of sheets mean, for this and every later file with the same headers, and what values mean and
   * which country local phone numbers are of, in every later file. `isRepeated`: it is read once more; not when something
   * else was applied after it.
   */
  'POST /files/{fileId}/columns': operation<{ isRepeated: boolean }>()({
    least: 'Administrator',
    proof: true,
    body: Type.Object(
      {
        sheets: Type.Array(MappedSheet, { minItems: 1, maxItems: 20 }),
        values: Type.Optional(Type.Array(MappedValue, { maxItems: 1000 })),
        country: Type.Optional(Type.Union([Type.String({ maxLength: 60 }), Type.Null()])),
      },
      strict,
    ),
  }),
  'GET /mappings': operation<{ columns: Mapping[]; values: ValueMapping[] }>()({ least: 'Administrator' }),
  'DELETE /mappings/{mappingId}': operation()({ least: 'Administrator' }),
  'DELETE /value-mappings/{mappingId}': operation()({ least: 'Administrator' }),
};
