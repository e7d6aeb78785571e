// The sentences of the privacy report, each from a code and its values, for the console and for the soundings command, which prints
// the same report. Pure.
import type { Arguments } from '../text/arguments.ts';
import type privacy from '../text/en/privacy.json';
import type { Translate } from '../texts.ts';
import type { Kept, NeverShown, PrivacyLimit, PrivacyReport, ReportedBreakdown } from './privacy.ts';

/** The texts of the report, and the arguments of those that have any. */
export type PrivacyTextKey = keyof typeof privacy;
export type PrivacyArguments = Arguments['privacy'];

/** What sentences need: texts, and formats for points in time, sizes and weeks (by name, such as 2026-W47). */
export type TextTools = {
  t: Translate<PrivacyTextKey, PrivacyArguments>;
  format: { day: (iso: string) => string; time: (iso: string) => string; bytes: (size: number) => string };
  week: (name: string) => string;
};

/** Returns the names of weeks as a list, or "none". */
const weeksOf = (names: readonly string[], { t, week }: TextTools) =>
  names.map(week).join('; ') || t('privacy.none');

const yesNo = (isSo: boolean, { t }: TextTools) => t(isSo ? 'privacy.yes' : 'privacy.no');

/** Returns what a limit means in this installation. */
export function limitText(limit: PrivacyLimit, tools: TextTools): string {
  const { t, format } = tools;
  switch (limit.code) {
    case 'leftAfterClosing':
      return t('privacy.limitText.leftAfterClosing', { tables: limit.tables.join(', ') });
    case 'keysMissing': {
      const path = limit.path ?? t('privacy.none');
      return t('privacy.limitText.keysMissing', { path, weeks: weeksOf(limit.weeks, tools) });
    }
    case 'keysBehind': {
      const seen = limit.processes.map(({ name, seenAt }) => `${name} (${format.time(seenAt)})`);
      return t('privacy.limitText.keysBehind', { processes: seen.join(', ') });
    }
    case 'keysExported':
      return t('privacy.limitText.keysExported', { last: format.time(limit.lastAt) });
    case 'keysWereExported': {
      const [last, until] = [format.time(limit.lastAt), format.time(limit.until)];
      return t('privacy.limitText.keysWereExported', { last, until });
    }
    case 'keysWereInDatabase':
      return t('privacy.limitText.keysWereInDatabase', { until: format.time(limit.until) });
    case 'keysInDatabase': {
      const [size, archived] = [format.bytes(limit.walBytes), yesNo(limit.isArchived, tools)];
      return t('privacy.limitText.keysInDatabase', { size, archived, replicas: limit.replicas });
    }
    case 'betweenWeeks': {
      const { noise, right, shuffled, commonest } = limit;
      const level = t(`privacy.betweenWeeks.${noise}`);
      return t('privacy.limitText.betweenWeeks', { level, right, shuffled, commonest });
    }
    case 'noMail':
      return t('privacy.limitText.noMail', { count: limit.people });
    case 'noAddress':
      return t('privacy.limitText.noAddress', { count: limit.people, all: limit.all });
    case 'linksHandedOut':
      return t('privacy.limitText.linksHandedOut', { count: limit.people, weeks: limit.weeks });
    case 'cardsPrinted':
      return t('privacy.limitText.cardsPrinted', { count: limit.people });
    case 'weekOpen':
      return t('privacy.limitText.weekOpen', { count: limit.people, weeks: weeksOf(limit.weeks, tools) });
    case 'colleagues':
      return t('privacy.limitText.colleagues', { count: limit.others });
    case 'invented': {
      const { administrators, manual, people } = limit;
      return t('privacy.limitText.invented', { count: administrators, manual, people });
    }
    case 'live':
    case 'unanimity':
      return t(`privacy.limitText.${limit.code}`, { threshold: limit.threshold });
    case 'plainHttp':
      return t('privacy.limitText.plainHttp', { address: limit.address });
    case 'notAnonymous':
      return t('privacy.limitText.notAnonymous');
  }
}

/** Returns which weeks a limit applies to; undefined: all. */
export function whereOf(limit: PrivacyLimit, { t, week }: TextTools): string | undefined {
  if (!('isSetting' in limit)) return undefined;
  const list = [...(limit.isSetting ? [t('privacy.fromNowOn')] : []), ...limit.weeks.map(week)].join('; ');
  return t('privacy.appliesTo', { list });
}

/** Returns what is never shown. */
export function neverText(never: NeverShown, { t }: TextTools): string {
  if ('below' in never) return t(`privacy.never.${never.code}`, { below: never.below });
  if ('step' in never) return t(`privacy.never.${never.code}`, { step: never.step });
  if ('closedWeeks' in never) return t(`privacy.never.${never.code}`, { count: never.closedWeeks });
  return t(`privacy.never.${never.code}`);
}

/** Returns how long something is kept. */
export function keptText(kept: Kept, tools: TextTools): string {
  const { t, format, week } = tools;
  switch (kept.code) {
    case 'answers':
      return t('privacy.keptText.answers', { timezone: kept.timezone, count: kept.openWeeks });
    case 'closing': {
      const tables = kept.tables.join(', ') || t('privacy.none');
      return t('privacy.keptText.closing', { count: kept.closedWeeks, tables });
    }
    case 'results': {
      const since = kept.since === null ? t('privacy.none') : week(kept.since);
      return t('privacy.keptText.results', { count: kept.weeks, since });
    }
    case 'runs':
    case 'files':
      return t(`privacy.keptText.${kept.code}`, { days: kept.days });
    case 'audit': {
      const since = kept.since === null ? t('privacy.none') : format.day(kept.since);
      return t('privacy.keptText.audit', { since });
    }
    case 'databaseLog': {
      const [size, archived] = [format.bytes(kept.walBytes), yesNo(kept.isArchived, tools)];
      return t('privacy.keptText.databaseLog', { size, archived });
    }
    case 'replicas':
      return t('privacy.keptText.replicas', { replicas: kept.count });
  }
}

/** Returns what a breakdown divides people by, when it is or was open, and the weeks with figures. */
export function breakdownTexts({ by, ...breakdown }: ReportedBreakdown, { t, format, week }: TextTools) {
  const [one = '', other] = by.map(({ attribute, bands }) =>
    bands ? t('privacy.breakdown.years', { attribute, years: bands.join(', ') }) : attribute,
  );
  const { openedAt, closedAt, weeks: count, first, last } = breakdown;
  const from = format.day(openedAt);
  return {
    by: other === undefined ? one : t('privacy.breakdown.two', { one, other }),
    open:
      closedAt === null
        ? t('privacy.breakdown.since', { day: from })
        : t('privacy.breakdown.closed', { from, to: format.day(closedAt) }),
    weeks:
      first === null || last === null
        ? t('privacy.none')
        : t('privacy.breakdown.span', { count, first: week(first), last: week(last) }),
  };
}

/** Returns the weeks before which values changed, and a text for none. */
export function changesTexts({ changes }: Pick<PrivacyReport, 'changes'>, { t }: TextTools) {
  const rows = changes
    .filter((one) => one.changes > 0)
    .map(({ week, name, changes: count }) => ({ key: `${week} ${name}`, week, name, count }));
  return { rows, none: t('privacy.changes.none', { count: new Set(changes.map((one) => one.week)).size }) };
}
