// The console: runs and files, for administrators. The changes that pushes and files requested, their outcome, and how the columns of files
// are read.
import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { maxNameLength, maxSheetColumns } from '../limits.ts';
import type { Change, Settings, Summary } from '../organization.ts';
import type { Detail } from '../problem.ts';
import type { FileReport } from '../storage.ts';
import {
  type columnMeanings,
  type ValueField,
  valueFields,
  type ValueMeaning,
  valueMeanings,
} from '../people/meanings.ts';
import { type RunOutcome, runOutcomes, type RunSource, runSources } from './run-outcomes.ts';

export type RunVia = 'https' | 'sftp' | 'console' | 'pull';

/** A run as lists show it. */
export type RunRow = {
  runId: string;
  /** ISO 8601. */
  at: string;
  source: RunSource;
  /** How the file arrived; null: the run was a push, or it is unknown how the file arrived. */
  via: RunVia | null;
  /** The name of the token that was used. */
  token: string | null;
  /** Who uploaded the file in the console; null: no one did, or the user has been removed. */
  sentBy: string | null;
  file: string | null;
  validateOnly: boolean;
  outcome: RunOutcome;
  /** When a pending run was approved or rejected. */
  decidedAt: string | null;
  summary: Summary | null;
  /** How many errors are stored. If this is one more than can be listed, there are more errors that are not stored. */
  faults: number;
  warnings: number;
};

/** A fault or a warning with what to do about it, in the requested language. */
export type RunFault = Detail & { remedy: string };

/** One of the six limits of a run: what its settings allow (`limit`), and what it would change (`count`). */
export type RunLimit = { setting: keyof Settings; limit: number; count: number };

/** A group that the run removes. `weeks`: the number of weeks in which it has results. */
export type RemovedGroup = { externalId: string; name: string | null; weeks: number };

export type Run = RunRow & {
  /** The message in English, for the report. */
  message: string | null;
  settings: Settings | null;
  /** Who approved or rejected it; null: the soundings command, a removed user, or no one before the run expired. */
  decidedBy: string | null;
  /** The file that the run was created from, as long as the file is kept. */
  fileId: number | null;
  /** Empty if the run has no summary. */
  limits: RunLimit[];
  /** Why the run awaits approval, or why it was refused. */
  details: RunFault[];
  notices: RunFault[];
  /** Groups with results that the run removes, at most a hundred. */
  lost: RemovedGroup[];
  lostCount: number;
  /** How many active people are in the account. */
  people: number;
  /**
   * The people removed by the run who own groups or have read access to them, or who have the Manager or Administrator role.
   * `names`: at most a hundred.
   */
  managersRemoved: { count: number; names: string[] };
  changeCount: number;
};

/** A change with the name of its person or group, as far as it is known. */
export type RunChange = Change & {
  position: number;
  name: string | null;
  /** For a removed group: the number of weeks with results. These results can't be seen after the run. */
  weeks: number | null;
  /** For a removed user or group: the new externalId with the same email address, or the same name and parent. */
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
  /** When it had arrived completely (ISO 8601). */
  at: string;
  state: FileState;
  /** The place of a waiting file in the queue; 1 is next. */
  place: number | null;
  /** Whether its content is kept. The content of a refused upload is not. */
  isKept: boolean;
  runId: string | null;
  summary: Summary | null;
  faults: number;
  warnings: number;
  /** Whether it has unknown columns or sheets, which can be mapped. */
  hasUnknownColumns: boolean;
};

export type FileDetails = FileRow & {
  message: string;
  details: RunFault[];
  notices: RunFault[];
};

export const mappingKinds = ['users', 'groups'] as const;
export type MappingKind = (typeof mappingKinds)[number];

export type ColumnMeaning = (typeof columnMeanings)[MappingKind][number];

/** Meanings that several columns of a sheet may have. */
export const repeatableMeanings: readonly string[] = [
  ...(['memberOf', 'groupName', 'adminOf', 'inheritedAdminOf', 'interestOf'] as const),
  ...(['isManager', 'manager', 'ignore'] as const),
];

const MappedColumn = Type.Object(
  {
    /** As written in the file. */
    header: Type.String({ minLength: 1, maxLength: 2 * maxNameLength }),
    /** A meaning, `attribute:` and a name, or `ignore`. */
    meaning: Type.String({ minLength: 1, maxLength: maxNameLength + 'attribute:'.length }),
  },
  { additionalProperties: false },
);
export type MappedColumn = Static<typeof MappedColumn>;

/** A sheet of a file, with the meaning of each column. */
export type SheetColumns = {
  /** Empty for a file with a single sheet. */
  sheet: string;
  /** The header row, counted from 1. */
  row: number;
  kind: MappingKind;
  /** Whether its headers are read with a confirmed mapping. */
  isMapped: boolean;
  /** Whether every column is known, and one of them contains the ids. */
  isKnown: boolean;
  columns: SheetColumn[];
};

/** A column of a file, with what an administrator needs to map it. */
export type SheetColumn = MappedColumn & {
  example: string | null;
  isKnown: boolean;
  /** A second meaning that the column could have, if no other column already had it. */
  couldBe: string | null;
  /**
   * The values of the column with their counts, the most frequent first. If there are very many, only the most frequent unknown
   * values.
   */
  values: ColumnValue[];
  /** How many different values it has; null: too many to count, so none are listed. */
  valueCount: number | null;
  /** How many of its cells are phone numbers without a country code. */
  localNumbers: number;
};

export type ColumnValue = {
  value: string;
  count: number;
  /** What the value means in a column of each field; null: unknown. */
  meaning: Record<ValueField, ValueMeaning | null>;
  /** What the value probably means in a column of each field; null: there is no suggestion. */
  proposed: Record<ValueField, ValueMeaning | null>;
};

export type FileColumns = {
  sheets: SheetColumns[];
  attributes: string[];
  /** The country of phone numbers without a country code; null: these numbers are not read. */
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
  /** Null: a user who has been removed. */
  confirmedBy: string | null;
  confirmedAt: string;
};

const MappedValue = Type.Object(
  {
    field: Type.Enum(valueFields),
    /** As written in the file, ignoring case. */
    value: Type.String({ minLength: 1, maxLength: 200 }),
    meaning: Type.Enum([...new Set(valueFields.flatMap((field) => valueMeanings[field]))]),
  },
  { additionalProperties: false },
);
export type MappedValue = Static<typeof MappedValue>;

/** The confirmed meaning of a value in files. */
export type ValueMapping = MappedValue & {
  mappingId: number;
  /** Null: the soundings command, or a user who has been removed. */
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
  /** Returns the runs of the account, newest first. */
  'GET /runs': operation<{ total: number; rows: RunRow[] }>()({
    minimumRole: 'Administrator',
    query: Type.Object(
      {
        ...windowed,
        outcome: Type.Optional(Type.Enum(runOutcomes)),
        source: Type.Optional(Type.Enum([...runSources])),
        dryRun: Type.Optional(Type.Enum(['true', 'false'])),
        search,
      },
      strict,
    ),
  }),
  'GET /runs/{runId}': operation<Run>()({
    minimumRole: 'Administrator',
    query: Type.Object({ language }, strict),
  }),
  /** Returns what a run changes, removals first. `total` counts the changes that match the filter. */
  'GET /runs/{runId}/changes': operation<{ total: number; rows: RunChange[] }>()({
    minimumRole: 'Administrator',
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
  /**
   * Applies exactly the changes that a pending run showed. The numbers are those of the removals of people and groups that were
   * shown.
   */
  'POST /runs/{runId}/approval': operation()({
    minimumRole: 'Administrator',
    proof: true,
    body: Type.Object(
      { peopleRemoved: Type.Integer({ minimum: 0 }), groupsRemoved: Type.Integer({ minimum: 0 }) },
      strict,
    ),
  }),
  'POST /runs/{runId}/rejection': operation()({
    minimumRole: 'Administrator',
    body: Type.Object({}, strict),
  }),
  /** Downloads: the faulty rows with their reasons, the changes, and the full report. */
  'GET /runs/{runId}/faults.csv': operation()({
    minimumRole: 'Administrator',
    query: Type.Object({ language }, strict),
  }),
  'GET /runs/{runId}/changes.csv': operation()({ minimumRole: 'Administrator' }),
  'GET /runs/{runId}/report.json': operation()({ minimumRole: 'Administrator' }),

  /** Returns the files of the account, newest first, and how many are waiting or being processed. */
  'GET /files': operation<{ total: number; rows: FileRow[]; underWay: number }>()({
    minimumRole: 'Administrator',
    query: Type.Object({ ...windowed, search }, strict),
  }),
  /**
   * Stores a file under the same rules as the upload interface: names, types, sizes and allowed addresses. If the account applies
   * files, the password is required, because files give roles and remove people.
   */
  'POST /files': operation<{ fileId: number; name: string }>()({
    minimumRole: 'Administrator',
    query: Type.Object({ name: Type.String({ minLength: 1, maxLength: 1000 }) }, strict),
    body: 'bytes',
  }),
  'GET /files/{fileId}': operation<FileDetails>()({
    minimumRole: 'Administrator',
    query: Type.Object({ language }, strict),
  }),
  /** Returns the columns of a file, with an example of each. Reading the file may take seconds. */
  'GET /files/{fileId}/columns': operation<FileColumns>()({ minimumRole: 'Administrator' }),
  /**
   * Confirms what the columns of sheets mean, for this and every later file with the same headers. Also confirms what values mean
   * and which country local phone numbers belong to, for every later file. `isRepeated`: whether this file is read again. It is,
   * unless something else has been applied after it.
   */
  'POST /files/{fileId}/columns': operation<{ isRepeated: boolean }>()({
    minimumRole: 'Administrator',
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
  'GET /mappings': operation<{ columns: Mapping[]; values: ValueMapping[] }>()({
    minimumRole: 'Administrator',
  }),
  'DELETE /mappings/{mappingId}': operation()({ minimumRole: 'Administrator' }),
  'DELETE /value-mappings/{mappingId}': operation()({ minimumRole: 'Administrator' }),
};
