// The sentences of the privacy report, each from a code and its values.
import type { Kept, KeyState, NeverShown, PrivacyLimit } from '@soundings/contract/console/privacy.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';

/** The functions that sentences need. */
function useTextTools() {
  const t = useText();
  const format = useFormat();
  const weekText = useWeekText();
  const week = (name: string) => weekText.full({ name });
  return {
    t,
    format,
    week,
    weeksOf: (names: string[]) => names.map(week).join('; ') || t('privacy.none'),
    yesNo: (isSo: boolean) => t(isSo ? 'privacy.yes' : 'privacy.no'),
  };
}
type TextTools = ReturnType<typeof useTextTools>;

export function usePrivacyText() {
  const tools = useTextTools();
  const { t } = tools;
  return {
    limit: (limit: PrivacyLimit) => ({
      title: t(`privacy.limit.${limit.code}`),
      text: limitText(limit, tools),
      where: whereOf(limit, tools),
    }),
    never: (never: NeverShown) => neverText(never, t),
    kept: (kept: Kept): [string, string] => [t(`privacy.kept.${kept.code}`), keptText(kept, tools)],
    place: ({ place, state }: KeyState) =>
      state === 'missing' ? t('privacy.keyMissing') : t(`privacy.keyPlace.${place}`),
  };
}

function limitText(limit: PrivacyLimit, { t, format, weeksOf, yesNo }: TextTools): string {
  switch (limit.code) {
    case 'leftAfterClosing':
      return t('privacy.limitText.leftAfterClosing', { tables: limit.tables.join(', ') });
    case 'keysMissing': {
      const path = limit.path ?? t('privacy.none');
      return t('privacy.limitText.keysMissing', { path, weeks: weeksOf(limit.weeks) });
    }
    case 'keysBehind': {
      const seen = limit.processes.map(({ name, seenAt }) => `${name} (${format.moment(seenAt)})`);
      return t('privacy.limitText.keysBehind', { processes: seen.join(', ') });
    }
    case 'keysExported':
      return t('privacy.limitText.keysExported', { last: format.moment(limit.lastAt) });
    case 'keysWereExported': {
      const [last, until] = [format.moment(limit.lastAt), format.moment(limit.until)];
      return t('privacy.limitText.keysWereExported', { last, until });
    }
    case 'keysWereInDatabase':
      return t('privacy.limitText.keysWereInDatabase', { until: format.moment(limit.until) });
    case 'keysInDatabase': {
      const [size, archived] = [format.bytes(limit.walBytes), yesNo(limit.isArchived)];
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
    case 'weekOpen':
      return t('privacy.limitText.weekOpen', { count: limit.people, weeks: weeksOf(limit.weeks) });
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
function whereOf(limit: PrivacyLimit, { t, week }: TextTools): string | undefined {
  if (!('isSetting' in limit)) return undefined;
  const list = [...(limit.isSetting ? [t('privacy.fromNowOn')] : []), ...limit.weeks.map(week)].join('; ');
  return t('privacy.appliesTo', { list });
}

function neverText(never: NeverShown, t: TextTools['t']): string {
  if ('below' in never) return t(`privacy.never.${never.code}`, { below: never.below });
  if ('step' in never) return t(`privacy.never.${never.code}`, { step: never.step });
  if ('closedWeeks' in never) return t(`privacy.never.${never.code}`, { count: never.closedWeeks });
  return t(`privacy.never.${never.code}`);
}

function keptText(kept: Kept, { t, format, week, yesNo }: TextTools): string {
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
      const [size, archived] = [format.bytes(kept.walBytes), yesNo(kept.isArchived)];
      return t('privacy.keptText.databaseLog', { size, archived });
    }
    case 'replicas':
      return t('privacy.keptText.replicas', { replicas: kept.count });
  }
}
