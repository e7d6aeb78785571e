// Builds the privacy report: what an installation promises and what it can't, based on its settings and counts. Pure.
import { consoleOperations } from '@soundings/contract/console/operations.ts';
import type { ConsoleOperation } from '@soundings/contract/console/operation.ts';
import {
  type ChangesBefore,
  type Kept,
  type KeyState,
  type NeverShown,
  type NoiseLevel,
  type OpenWeekRules,
  type PrivacyArea,
  privacyAreas,
  type PrivacyLimit,
  type PrivacyReport,
  type PrivacyRules,
  type ReportedBreakdown,
} from '@soundings/contract/console/privacy.ts';
import { runRetentionDays } from '@soundings/contract/limits.ts';
import { type Week, weekName } from '@soundings/contract/weeks.ts';
import { hasRole, type Role, roles } from '@soundings/contract/people/roles.ts';
import { betweenWeeks } from '../disclosure/between-weeks.ts';
import type { AccountFacts, DatabaseFacts } from './privacy-report.sql.ts';

/** What the running process knows about the installation. */
export type Installation = {
  keys: KeyState;
  version: string;
  fileDays: number;
  /** Whether a mail server is configured. */
  hasMail: boolean;
  publicUrl: string;
  /** Milliseconds since 1970. */
  now: number;
};

/** What the database contains. */
export type PrivacyFacts = {
  account: AccountFacts;
  openWeeks: { week: Week; people: number; rules: PrivacyRules }[];
  /** Weeks are Mondays here, and names in the report. */
  breakdowns: ReportedBreakdown[];
  changes: ChangesBefore[];
  /** `afterCopies`: how many began after exported keys had become useless and keys were no longer in the database. */
  closedWeeks: { count: number; first: Week | null; afterCopies: number };
  /** Tables that still have rows of closed weeks. */
  left: string[];
  roles: { role: Role; people: number; canSignIn: number }[];
  bases: {
    basis: PrivacyReport['managers']['bases'][number]['basis'] | null;
    managers: number;
    groups: number;
  }[];
  tokens: PrivacyReport['tokens'];
  exports: PrivacyReport['links']['exports'];
  database: DatabaseFacts;
};

/** The number of past weeks whose handed-out links are reported. */
export const linkWeeks = 8;

/** The number of weeks opened with breakdowns for which the report says how many values changed before them. */
export const changeWeeks = 8;

export function privacyReportOf(facts: PrivacyFacts, installation: Installation): PrivacyReport {
  const { account, tokens, exports } = facts;
  const { keys, version, now } = installation;
  const openWeeks = facts.openWeeks.map(({ week, people, rules }) => ({
    week: weekName(week),
    people,
    ...rules,
  }));
  return {
    at: new Date(now).toISOString(),
    version,
    account: { id: account.id, name: account.name },
    rules: account.rules,
    openWeeks,
    breakdowns: facts.breakdowns.map(({ first, last, ...breakdown }) => ({
      ...breakdown,
      first: first && weekName(first),
      last: last && weekName(last),
    })),
    changes: facts.changes.map(({ week, ...rest }) => ({ week: weekName(week), ...rest })),
    limits: limitsOf(facts, openWeeks, installation),
    never: neverShown(facts, installation),
    keys,
    roles: roles.map((role) => ({
      role,
      people: 0,
      canSignIn: 0,
      ...facts.roles.find((one) => one.role === role),
      sees: areasOf(role),
    })),
    managers: managersOf(facts),
    tokens,
    links: { weeks: linkWeeks, exports },
    kept: keptOf(facts, installation),
  };
}

/** The operation that gives access to each area. Its minimum role decides who sees the area. */
const operationOf: Record<PrivacyArea, keyof typeof consoleOperations> = {
  results: 'GET /results',
  people: 'GET /users',
  settings: 'GET /settings',
  audit: 'GET /audit',
  report: 'GET /privacy',
  profile: 'GET /profile',
};

function areasOf(role: Role): PrivacyArea[] {
  return privacyAreas.filter((area) => {
    const { minimumRole } = consoleOperations[operationOf[area]] as ConsoleOperation;
    return minimumRole === 'anyone' || hasRole({ role }, minimumRole);
  });
}

const bases = ['adminOf', 'inheritedAdminOf', 'interestOf'] as const;

const managersOf = ({ account, bases: counted }: PrivacyFacts): PrivacyReport['managers'] => ({
  bases: bases.map((basis) => ({
    managers: 0,
    groups: 0,
    ...counted.find((one) => one.basis === basis),
    basis,
  })),
  withoutGroups: counted.find(({ basis }) => basis === null)?.managers ?? 0,
  groups: account.groups,
});

/** Returns whether the condition is true for the account's settings, and the open weeks for which it is. */
function where(rules: PrivacyRules, openWeeks: OpenWeekRules[], matches: (rules: PrivacyRules) => boolean) {
  return { isSetting: matches(rules), weeks: openWeeks.filter(matches).map(({ week }) => week) };
}

const isAnywhere = ({ isSetting, weeks }: { isSetting: boolean; weeks: string[] }) =>
  isSetting || weeks.length > 0;

const weights = { broken: 0, weaker: 1, inherent: 2 };

function limitsOf(
  facts: PrivacyFacts,
  openWeeks: OpenWeekRules[],
  installation: Installation,
): PrivacyLimit[] {
  const all = [
    ...limitsOfRules(facts, openWeeks),
    ...limitsOfKeys(facts, openWeeks, installation),
    ...limitsOfLinks(facts, installation),
    ...limitsOfPeople(facts),
  ];
  return all.toSorted((one, other) => weights[one.weight] - weights[other.weight]);
}

function limitsOfRules({ account: { rules } }: PrivacyFacts, openWeeks: OpenWeekRules[]): PrivacyLimit[] {
  const notAnonymous = where(rules, openWeeks, ({ threshold }) => threshold === 1);
  const live = where(rules, openWeeks, ({ isLive, threshold }) => isLive && threshold > 1);
  const limits: PrivacyLimit[] = [];
  if (isAnywhere(notAnonymous)) limits.push({ weight: 'broken', code: 'notAnonymous', ...notAnonymous });
  if (isAnywhere(live)) {
    const threshold = lowest(
      [rules, ...openWeeks].filter(({ isLive }) => isLive),
      'threshold',
    );
    limits.push({ weight: 'weaker', code: 'live', threshold, ...live });
  }
  for (const level of [0, 1, 2] as const) {
    const at = where(rules, openWeeks, ({ noise, threshold }) => noise === level && threshold > 1);
    if (isAnywhere(at)) limits.push({ ...betweenWeeksAt(level), ...at });
  }
  const threshold = lowest([rules, ...openWeeks], 'threshold');
  if (threshold > 1) {
    limits.push({ weight: 'inherent', code: 'unanimity', threshold });
    limits.push({ weight: 'inherent', code: 'colleagues', others: threshold - 1 });
  }
  return limits;
}

/** Returns how well answers can be guessed by comparing weeks, at this level of noise. Noise reduces it, but never to nothing. */
const betweenWeeksAt = (noise: NoiseLevel) => ({
  weight: noise === 0 ? ('weaker' as const) : ('inherent' as const),
  code: 'betweenWeeks' as const,
  noise,
  right: betweenWeeks.leaver[noise],
  shuffled: betweenWeeks.shuffled[noise],
  commonest: betweenWeeks.commonest,
});

/** Returns the lowest value among rules with a threshold above 1, the only ones that promise anything; 1 if there are none. */
function lowest(
  all: PrivacyRules[],
  name: 'threshold' | 'distributionThreshold' | 'commentThreshold',
): number {
  const values = all.filter(({ threshold }) => threshold > 1).map((rules) => rules[name]);
  return values.length === 0 ? 1 : Math.min(...values);
}

function limitsOfKeys(
  { left, database }: PrivacyFacts,
  openWeeks: OpenWeekRules[],
  { keys }: Installation,
): PrivacyLimit[] {
  const weeks = openWeeks.map(({ week }) => week);
  const behind = keys.processes.filter(({ isBehind }) => isBehind);
  const people = openWeeks.reduce((sum, week) => sum + week.people, 0);
  const limits: PrivacyLimit[] = [];
  if (left.length > 0) limits.push({ weight: 'broken', code: 'leftAfterClosing', tables: left });
  if (keys.state === 'missing')
    limits.push({ weight: 'broken', code: 'keysMissing', path: keys.path, weeks });
  if (behind.length > 0) {
    const processes = behind.map(({ name, seenAt }) => ({ name, seenAt }));
    limits.push({ weight: 'broken', code: 'keysBehind', processes });
  }
  const { exportedAt: lastAt, exportedUntil: until } = keys;
  if (lastAt !== null && until === null) limits.push({ weight: 'weaker', code: 'keysExported', lastAt });
  if (lastAt !== null && until !== null)
    limits.push({ weight: 'weaker', code: 'keysWereExported', lastAt, until });
  if (keys.inDatabaseUntil !== null)
    limits.push({ weight: 'weaker', code: 'keysWereInDatabase', until: keys.inDatabaseUntil });
  if (keys.place === 'database') limits.push({ weight: 'weaker', code: 'keysInDatabase', ...database });
  if (weeks.length > 0 && keys.state === 'ready')
    limits.push({ weight: 'inherent', code: 'weekOpen', weeks, people });
  return limits;
}

function limitsOfLinks(
  { account: { people, unreachable, cards }, exports }: PrivacyFacts,
  { hasMail, publicUrl }: Installation,
): PrivacyLimit[] {
  const handedOut = exports.reduce((sum, one) => sum + (one.people ?? 0), 0);
  const limits: PrivacyLimit[] = [];
  if (!hasMail) limits.push({ weight: 'weaker', code: 'noMail', people });
  else if (unreachable > 0)
    limits.push({ weight: 'weaker', code: 'noAddress', people: unreachable, all: people });
  if (exports.length > 0)
    limits.push({ weight: 'weaker', code: 'linksHandedOut', people: handedOut, weeks: linkWeeks });
  if (cards > 0) limits.push({ weight: 'weaker', code: 'cardsPrinted', people: cards });
  if (isPlain(publicUrl)) limits.push({ weight: 'weaker', code: 'plainHttp', address: publicUrl });
  return limits;
}

/** Returns whether answers are sent over a network without encryption. */
function isPlain(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
}

function limitsOfPeople({ account: { people, manual }, roles: counted }: PrivacyFacts): PrivacyLimit[] {
  const administrators = counted.find(({ role }) => role === 'Administrator')?.people ?? 0;
  return administrators === 0
    ? []
    : [{ weight: 'inherent', code: 'invented', administrators, manual, people }];
}

/** Returns what is never shown. Uses the lowest thresholds in force, so that each promise is true for every week. */
function neverShown(
  { account: { rules }, openWeeks, closedWeeks, left }: PrivacyFacts,
  { keys }: Installation,
): NeverShown[] {
  const all = [rules, ...openWeeks.map((week) => week.rules)];
  const never: NeverShown[] = [];
  if (all.every(({ threshold }) => threshold > 1)) {
    const below = lowest(all, 'threshold');
    never.push({ code: 'figures', below }, { code: 'differences', below });
    never.push({ code: 'distributions', below: lowest(all, 'distributionThreshold') });
    never.push({ code: 'comments', below: lowest(all, 'commentThreshold') });
    if (all.every(({ isLive }) => !isLive)) never.push({ code: 'openWeek' });
    never.push({ code: 'whoAnswered', step: lowest(all, 'distributionThreshold') });
  }
  const { place, state, processes, exportedAt, exportedUntil } = keys;
  const isExported = exportedAt !== null && exportedUntil === null;
  const hasCopies = isExported || processes.some(({ isBehind }) => isBehind);
  if (left.length === 0 && !hasCopies && place === 'file' && state === 'ready')
    never.push({ code: 'whoSaidWhat', closedWeeks: closedWeeks.afterCopies });
  return never;
}

const keptOf = (
  { account, openWeeks, closedWeeks, left, database }: PrivacyFacts,
  { fileDays }: Installation,
): Kept[] => [
  { code: 'answers', timezone: account.timezone, openWeeks: openWeeks.length },
  { code: 'closing', closedWeeks: closedWeeks.count, tables: left },
  {
    code: 'results',
    weeks: closedWeeks.count,
    since: closedWeeks.first === null ? null : weekName(closedWeeks.first),
  },
  { code: 'runs', days: runRetentionDays },
  { code: 'files', days: fileDays },
  { code: 'audit', since: account.auditSince?.toISOString() ?? null },
  { code: 'databaseLog', walBytes: database.walBytes, isArchived: database.isArchived },
  { code: 'replicas', count: database.replicas },
];
