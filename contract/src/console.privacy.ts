// The console: the privacy report, for works councils and data-protection officers. Codes and values that are read from the
// running settings and data; the console and the soundings command turn them into sentences.
import { operation } from './console.operation.ts';
import type { MembershipKind, Role } from './words.ts';

/** Where the keys of open weeks are wrapped, and how far each process of the installation has moved them forward. */
export type KeyState = {
  place: 'file' | 'database';
  /** Of the key file; null: there is none. */
  path: string | null;
  state: 'ready' | 'missing';
  epoch: number;
  /** When a key was exported last. Null: never. */
  exportedAt: string | null;
  /** When a key was created that doesn't follow from the exported one. Null: none was since. */
  exportedUntil: string | null;
  /** When the key was in the database last, where it is no longer. */
  inDatabaseUntil: string | null;
  processes: { name: string; epoch: number; seenAt: string; isBehind: boolean }[];
};

/** Noise in each published sum: off, or at most one or two steps of the scale. */
export type Noise = 0 | 1 | 2;

/** What decides which figures are shown. */
export type PrivacyRules = {
  /** Fewest answers behind a mean or a response rate. 1: not anonymous. */
  threshold: number;
  spreadThreshold: number;
  commentThreshold: number;
  /** Whether results are shown while the week is open. */
  isLive: boolean;
  noise: Noise;
};

/** `week`: such as 2026-W47; `people`: how many are asked. */
export type OpenWeekRules = PrivacyRules & { week: string; people: number };

/** To which weeks a limit applies: those that open from now on, and open ones by name. */
type Where = { isSetting: boolean; weeks: string[] };

/**
 * What the installation cannot promise, in the order in which it is shown. `broken`: a promise is not kept; `weaker`: it holds
 * with a restriction that a setting would lift; `inherent`: true of every installation with such values.
 */
export type PrivacyLimit = { weight: 'broken' | 'weaker' | 'inherent' } & (
  | ({ code: 'notAnonymous' } & Where)
  | { code: 'leftAfterClosing'; tables: string[] }
  | { code: 'keysMissing'; path: string | null; weeks: string[] }
  | { code: 'keysBehind'; processes: { name: string; seenAt: string }[] }
  /** Copies open what was asked from their export until a key was created that doesn't follow from them: `until`, if it was. */
  | { code: 'keysExported'; lastAt: string }
  | { code: 'keysWereExported'; lastAt: string; until: string }
  /** `until`: when the keys left the database. */
  | { code: 'keysWereInDatabase'; until: string }
  | { code: 'keysInDatabase'; walBytes: number; isArchived: boolean; replicas: number }
  | ({ code: 'live'; threshold: number } & Where)
  /**
   * At a level of noise, how many guesses of 100 are right: of who leaves a team of eight, of anyone's answer where groups change
   * each week, and by guessing the most common answer.
   */
  | ({ code: 'betweenWeeks'; noise: Noise; right: number; shuffled: number; commonest: number } & Where)
  | { code: 'noMail'; people: number }
  | { code: 'noAddress'; people: number; all: number }
  | { code: 'linksHandedOut'; people: number; weeks: number }
  | { code: 'plainHttp'; address: string }
  | { code: 'weekOpen'; weeks: string[]; people: number }
  | { code: 'unanimity'; threshold: number }
  | { code: 'colleagues'; others: number }
  | { code: 'invented'; administrators: number; manual: number; people: number }
);

/** What is never shown: it follows from the lowest thresholds in force, of the account and of the open weeks. */
export type NeverShown =
  | { code: 'figures'; below: number }
  | { code: 'spreads'; below: number }
  | { code: 'comments'; below: number }
  | { code: 'differences'; below: number }
  | { code: 'openWeek' }
  /** Only about how many have answered is shown, in steps of so many. */
  | { code: 'whoAnswered'; step: number }
  | { code: 'whoSaidWhat'; closedWeeks: number };

/** What a role opens in the console. */
export const privacyAreas = ['results', 'people', 'settings', 'audit', 'report', 'profile'] as const;
export type PrivacyArea = (typeof privacyAreas)[number];

export type PrivacyRole = {
  role: Role;
  /** How many active people have it, and how many of them have set a password. */
  people: number;
  canSignIn: number;
  sees: PrivacyArea[];
};

/** Of the active managers who have groups on one basis: how many there are, and how many groups they see by it. */
export type ManagerBasis = { basis: Exclude<MembershipKind, 'memberOf'>; managers: number; groups: number };

/** A token that reads results. */
export type DataToken = {
  name: string;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
};

/** Links of one week that were handed out one way. `week`, `people` null: not recorded, by an earlier version. */
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

export type PrivacyReport = {
  at: string;
  /** Of the service. */
  version: string;
  account: { id: number; name: string };
  /** Of weeks that open from now on. */
  rules: PrivacyRules;
  openWeeks: OpenWeekRules[];
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
  /** Names no person: Auditors read it, and nothing else. */
  'GET /privacy': operation<PrivacyReport>()({ least: 'Auditor' }),
};
