// The sentences of the privacy report, each from a code and its values.
import type { Kept, KeyState, NeverShown, PrivacyLimit } from '@soundings/contract/console.privacy.ts';
import { type TextValues, useFormat, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';

/** The functions that sentences need. */
function useMeans() {
  const t = useText();
  const format = useFormat();
  const words = useWeekText();
  const week = (name: string) => words.full({ name });
  return {
    t,
    format,
    week,
    weeksOf: (names: string[]) => names.map(week).join('; ') || t('privacy.none'),
    yesNo: (isSo: boolean) => t(isSo ? 'privacy.yes' : 'privacy.no'),
  };
}
type Means = ReturnType<typeof useMeans>;

export function usePrivacyText() {
  const means = useMeans();
  const { t } = means;
  return {
    limit: (limit: PrivacyLimit) => ({
      title: t(`privacy.limit.${limit.code}`),
      text: t(`privacy.limitText.${limit.code}`, limitValues(limit, means)),
      where: whereOf(limit, means),
    }),
    never: (never: NeverShown) => t(`privacy.never.${never.code}`, neverValues(never)),
    kept: (kept: Kept): [string, string] => [
      t(`privacy.kept.${kept.code}`),
      t(`privacy.keptText.${kept.code}`, keptValues(kept, means)),
    ],
    place: ({ place, state }: KeyState) =>
      state === 'missing' ? t('privacy.keyMissing') : t(`privacy.keyPlace.${place}`),
  };
}

function limitValues(limit: PrivacyLimit, { t, format, weeksOf, yesNo }: Means): TextValues {
  switch (limit.code) {
    case 'leftAfterClosing':
      return { tables: limit.tables.join(', ') };
    case 'keysMissing':
      return { path: limit.path ?? t('privacy.none'), weeks: weeksOf(limit.weeks) };
    case 'keysBehind': {
      const seen = limit.processes.map(({ name, seenAt }) => `${name} (${format.moment(seenAt)})`);
      return { processes: seen.join(', ') };
    }
    case 'keysExported':
      return { last: format.moment(limit.lastAt) };
    case 'keysWereExported':
      return { last: format.moment(limit.lastAt), until: format.moment(limit.until) };
    case 'keysWereInDatabase':
      return { until: format.moment(limit.until) };
    case 'keysInDatabase':
      return {
        size: format.bytes(limit.walBytes),
        archived: yesNo(limit.isArchived),
        replicas: limit.replicas,
      };
    case 'live':
      return { threshold: limit.threshold };
    case 'betweenWeeks': {
      const { noise, right, shuffled, commonest } = limit;
      return { level: t(`privacy.betweenWeeks.${noise}`), right, shuffled, commonest };
    }
    case 'noMail':
      return { count: limit.people };
    case 'noAddress':
      return { count: limit.people, all: limit.all };
    case 'linksHandedOut':
      return { count: limit.people, weeks: limit.weeks };
    case 'weekOpen':
      return { count: limit.people, weeks: weeksOf(limit.weeks) };
    case 'colleagues':
      return { count: limit.others };
    case 'invented':
      return { count: limit.administrators, manual: limit.manual, people: limit.people };
    case 'unanimity':
      return { threshold: limit.threshold };
    case 'plainHttp':
      return { address: limit.address };
    case 'notAnonymous':
      return {};
  }
}

/** Returns which weeks a limit applies to; undefined: all. */
function whereOf(limit: PrivacyLimit, { t, week }: Means): string | undefined {
  if (!('isSetting' in limit)) return undefined;
  const list = [...(limit.isSetting ? [t('privacy.fromNowOn')] : []), ...limit.weeks.map(week)].join('; ');
  return t('privacy.appliesTo', { list });
}

function neverValues(never: NeverShown): TextValues {
  if ('below' in never) return { below: never.below };
  if ('step' in never) return { step: never.step };
  return 'closedWeeks' in never ? { count: never.closedWeeks } : {};
}

function keptValues(kept: Kept, { t, format, week, yesNo }: Means): TextValues {
  switch (kept.code) {
    case 'answers':
      return { timezone: kept.timezone, count: kept.openWeeks };
    case 'closing':
      return { count: kept.closedWeeks, tables: kept.tables.join(', ') || t('privacy.none') };
    case 'results':
      return { count: kept.weeks, since: kept.since === null ? t('privacy.none') : week(kept.since) };
    case 'runs':
    case 'files':
      return { days: kept.days };
    case 'audit':
      return { since: kept.since === null ? t('privacy.none') : format.day(kept.since) };
    case 'databaseLog':
      return { size: format.bytes(kept.walBytes), archived: yesNo(kept.isArchived) };
    case 'replicas':
      return { replicas: kept.count };
  }
}
