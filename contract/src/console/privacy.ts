// The console: the privacy report, for works councils and data-protection officers. The service sends codes and values, read from
// the current settings and data. The console and the soundings command turn them into sentences.
import { operation } from './operation.ts';
import type { MembershipKind } from '../people/memberships.ts';
import type { Role } from '../people/roles.ts';

/** Where the keys of open weeks are wrapped, and which epoch each process of the installation has reached. */
export type KeyState = {
  place: 'file' | 'database';
  /** The path of the key file; null: there is none. */
  path: string | null;
  state: 'ready' | 'missing';
  epoch: number;
  /** When a key was last exported; null: never. */
  exportedAt: string | null;
  /** When a key was created that can't be derived from the exported one, for the first time after the last export; null: never. */
  exportedUntil: string | null;
  /** When the key was last in the database; null: it never was, or still is. */
  inDatabaseUntil: string | null;
  processes: { name: string; epoch: number; seenAt: string; isBehind: boolean }[];
};

/** Noise in each published sum: off, or at most one or two steps of the scale. */
export type NoiseLevel = 0 | 1 | 2;

/** The rules that decide which figures are shown. */
export type PrivacyRules = {
  /** The minimum number of answers behind a mean or a response rate. 1: not anonymous. */
  threshold: number;
  distributionThreshold: number;
  commentThreshold: number;
  /** Whether results are shown while the week is open. */
  isLive: boolean;
  noise: NoiseLevel;
};

/** `week`: such as 2026-W47; `people`: how many are asked. */
export type OpenWeekRules = PrivacyRules & { week: string; people: number };

/** Which weeks a limit applies to: those that open from now on (`isSetting`), and open weeks by name. */
type Where = { isSetting: boolean; weeks: string[] };

/**
 * What the installation can't promise, in the order in which it is shown. `broken`: a promise is not kept; `weaker`: it is kept
 * with a restriction that a setting would remove; `inherent`: a limit of every installation with these values.
 */
export type PrivacyLimit = { weight: 'broken' | 'weaker' | 'inherent' } & (
  | ({ code: 'notAnonymous' } & Where)
  | { code: 'leftAfterClosing'; tables: string[] }
  | { code: 'keysMissing'; path: string | null; weeks: string[] }
  | { code: 'keysBehind'; processes: { name: string; seenAt: string }[] }
  /** A copy can open answers from its export until a key was created that can't be derived from it (`until`). */
  | { code: 'keysExported'; lastAt: string }
  | { code: 'keysWereExported'; lastAt: string; until: string }
  /** `until`: when the keys left the database. */
  | { code: 'keysWereInDatabase'; until: string }
  | { code: 'keysInDatabase'; walBytes: number; isArchived: boolean; replicas: number }
  | ({ code: 'live'; threshold: number } & Where)
  /**
   * How many of 100 guesses are right at a level of noise: about a person who leaves a team of eight (`right`), about any answer
   * where groups change each week (`shuffled`), and by always guessing the most common answer (`commonest`).
   */
  | ({ code: 'betweenWeeks'; noise: NoiseLevel; right: number; shuffled: number; commonest: number } & Where)
  | { code: 'noMail'; people: number }
  | { code: 'noAddress'; people: number; all: number }
  | { code: 'linksHandedOut'; people: number; weeks: number }
  | { code: 'cardsPrinted'; people: number }
  | { code: 'plainHttp'; address: string }
  | { code: 'weekOpen'; weeks: string[]; people: number }
  | { code: 'unanimity'; threshold: number }
  | { code: 'colleagues'; others: number }
  | { code: 'invented'; administrators: number; manual: number; people: number }
);

/** What is never shown. Derived from the lowest thresholds in force, those of the account and of the open weeks. */
export type NeverShown =
  | { code: 'figures'; below: number }
  | { code: 'distributions'; below: number }
  | { code: 'comments'; below: number }
  | { code: 'differences'; below: number }
  | { code: 'openWeek' }
  /** Only the approximate number of people who have answered is shown, in steps of `step`. */
  | { code: 'whoAnswered'; step: number }
  | { code: 'whoSaidWhat'; closedWeeks: number };

/** The areas of the console that a role can open. */
export const privacyAreas = ['results', 'people', 'settings', 'audit', 'report', 'profile'] as const;
export type PrivacyArea = (typeof privacyAreas)[number];

export type PrivacyRole = {
  role: Role;
  /** How many active people have the role, and how many of them have set a password. */
  people: number;
  canSignIn: number;
  sees: PrivacyArea[];
};

/** How many active managers have groups on one basis, and how many groups they see because of it. */
export type ManagerBasis = { basis: Exclude<MembershipKind, 'memberOf'>; managers: number; groups: number };

/** A token that reads results. */
export type DataToken = {
  name: string;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
};

/** Links of one week that were exported in one way. `week`, `people` null: an earlier version did not record them. */
export type LinkExport = {
  week: string | null;
  origin: 'console' | 'command';
  times: number;
  people: number | null;
  lastAt: string;
};

/** How long something is kept. */
export type Kept =
  | { code: 'answers'; timezone: string; openWeeks: number }
  | { code: 'closing'; closedWeeks: number; tables: string[] }
  | { code: 'results'; weeks: number; since: string | null }
  | { code: 'runs'; days: number }
  | { code: 'files'; days: number }
  | { code: 'audit'; since: string | null }
  | { code: 'databaseLog'; walBytes: number; isArchived: boolean }
  | { code: 'replicas'; count: number };

/** A breakdown, and the one or two attributes that it really divides people by. */
export type ReportedBreakdown = {
  name: string;
  /** `bands`: ascending limits in years; null: each value is a segment. */
  by: { attribute: string; bands: number[] | null }[];
  openedAt: string;
  /** Null: open. */
  closedAt: string | null;
  /** How many weeks have figures, and the first and last of them. */
  weeks: number;
  first: string | null;
  last: string | null;
};

/** How many values of a breakdown's attributes changed in the 7 days before a week was opened with it. Only counts, no people. */
export type ChangesBefore = { week: string; name: string; changes: number };

export type PrivacyReport = {
  at: string;
  /** The version of the service. */
  version: string;
  account: { id: number; name: string };
  /** The rules of weeks that open from now on. */
  rules: PrivacyRules;
  openWeeks: OpenWeekRules[];
  /** Breakdowns that are open, or closed with figures that still exist. */
  breakdowns: ReportedBreakdown[];
  /** For the last 8 weeks that were opened with breakdowns, newest first. */
  changes: ChangesBefore[];
  limits: PrivacyLimit[];
  never: NeverShown[];
  keys: KeyState;
  roles: PrivacyRole[];
  managers: { bases: ManagerBasis[]; withoutGroups: number; groups: number };
  tokens: DataToken[];
  /** `weeks`: how many weeks back. */
  links: { weeks: number; exports: LinkExport[] };
  kept: Kept[];
};

export const privacyOperations = {
  /** Returns the privacy report, which names no person. It is the only thing that auditors can read. */
  'GET /privacy': operation<PrivacyReport>()({ minimumRole: 'Auditor' }),
};
