// How pulls and their attempts are shown: states, times and outcomes.
import type { FetchRow, PullSummary } from '@soundings/contract/pulls/pulls.ts';
import { type Translator, useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { useDays } from '../../asking/texts.ts';
import { StateBadge } from '../texts.tsx';

export const hostIn = (url: string): string => URL.parse(url)?.host ?? url;

/** Whether a list is fetched by its schedule, and whether that works. */
export function PullState({ isOn, failingSince }: Pick<PullSummary, 'isOn' | 'failingSince'>) {
  const t = useText();
  if (!isOn) return <Badge>{t('pulls.off')}</Badge>;
  if (failingSince !== null) return <Badge tone="warn">{t('pulls.failing')}</Badge>;
  return <Badge tone="good">{t('pulls.on')}</Badge>;
}

/** Returns a function that describes a schedule, such as "Every day at 05:00". */
export function useTimes(): (pull: Pick<PullSummary, 'repeat' | 'hour' | 'weekday'>) => string {
  const t = useText();
  const days = useDays();
  return ({ repeat, hour, weekday }) =>
    t(`pulls.times.${repeat}`, { hour: days.hour(hour), weekday: days.weekday(weekday) });
}

/** The outcome of an attempt: that of its file, or why there is none. */
export function FetchState({ fetch }: { fetch: FetchRow }) {
  const t = useText();
  if (fetch.outcome === 'failed')
    return (
      <Badge dot tone="bad">
        {t('pulls.failed')}
      </Badge>
    );
  // The same list as last time isn't a success if its file was refused, or awaits approval.
  const isOpen = fetch.fileOutcome === 'refused' || fetch.fileOutcome === 'pending';
  if (fetch.outcome === 'unchanged' && !isOpen) return <Badge dot>{t('pulls.unchanged')}</Badge>;
  if (fetch.fileId === null) return <Badge dot>{t('pulls.deleted')}</Badge>;
  return <StateBadge dot state={fetch.fileOutcome ?? 'waiting'} />;
}

/** Returns why an attempt failed, or how much it fetched. */
export function fetchText(t: Translator, fetch: FetchRow, bytes: (count: number) => string): string {
  const { error, detail, rows } = fetch;
  if (error !== null) return [t(`pulls.error.${error}`), detail].filter((text) => text !== null).join(' · ');
  if (fetch.outcome === 'unchanged') return t('pulls.unchangedText');
  return [rows === null ? undefined : t('pulls.rows', { count: rows }), bytes(fetch.bytes)]
    .filter((text) => text !== undefined)
    .join(' · ');
}
