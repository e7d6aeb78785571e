// Texts and badges that runs and files share: states, sources, and numbers of changes.
import type { RunSource } from '@soundings/contract/console/run-outcomes.ts';
import type { FileState, Run, RunRow } from '@soundings/contract/console/runs.ts';
import type { Counts, Summary } from '@soundings/contract/organization.ts';
import { type Translator, useFormat, useText } from '../../text/text.tsx';
import { Badge, type Tone } from '../../ui/Badge.tsx';
import css from './runs.module.css';

/**
 * The state of a run or file for display. `rejected`: an administrator rejected the run, which is not the same as a run with
 * errors.
 */
export type State = FileState | 'rejected';

export const runStateOf = ({ outcome, decidedAt }: Pick<RunRow, 'outcome' | 'decidedAt'>): State =>
  outcome === 'refused' && decidedAt !== null ? 'rejected' : outcome;

const tones: Record<State, Tone> = {
  applied: 'good',
  validated: 'neutral',
  pending: 'warn',
  refused: 'bad',
  rejected: 'neutral',
  failed: 'bad',
  waiting: 'accent',
  processing: 'accent',
};

export function StateBadge({ state, dot }: { state: State; dot?: boolean }) {
  const t = useText();
  return (
    <Badge tone={tones[state]} dot={dot === true}>
      {t(`runs.state.${state}`)}
    </Badge>
  );
}

/** Returns the source: "API · nightly", "SFTP · nightly", "Console · Ada Admin". */
export function sourceText(
  t: Translator,
  { source = 'file', via, token, sentBy }: Pick<RunRow, 'via' | 'token' | 'sentBy'> & { source?: RunSource },
): string {
  const way = source === 'file' ? t(`runs.via.${via ?? 'file'}`) : t(`runs.via.${source}`);
  return [way, token ?? sentBy].filter((word) => word !== null && word !== '').join(' · ');
}

/** Returns a count as text, or that there are more than can be listed. */
export function countText(count: number, number: (count: number) => string): string {
  return count > 1000 ? `${number(1000)}+` : number(count);
}

/** "+38 ~126 −9", read out as text. */
export function Deltas({ counts }: { counts: Counts | undefined }) {
  const t = useText();
  const { number } = useFormat();
  if (!counts) return <span className={css['none']}>–</span>;
  const { created, updated, deleted } = counts;
  if (created + updated + deleted === 0) return <span className={css['none']}>{t('runs.nothing')}</span>;
  return (
    <span className={css['deltas']}>
      <Delta
        sign="+"
        appearance="created"
        count={created}
        text={t('runs.created', { count: created })}
        number={number}
      />
      <Delta
        sign="~"
        appearance="updated"
        count={updated}
        text={t('runs.updated', { count: updated })}
        number={number}
      />
      <Delta
        sign="−"
        appearance="deleted"
        count={deleted}
        text={t('runs.deleted', { count: deleted })}
        number={number}
      />
    </span>
  );
}

type DeltaProps = {
  sign: string;
  appearance: 'created' | 'updated' | 'deleted';
  count: number;
  text: string;
  number: (count: number) => string;
};

function Delta({ sign, appearance, count, text, number }: DeltaProps) {
  if (count === 0) return null;
  return (
    <span className={css[appearance]}>
      <span aria-hidden>
        {sign}
        {number(count)}
      </span>
      <span className="visually-hidden">{text} </span>
    </span>
  );
}

/** How many people or groups a run changes. */
export const countsOf = (summary: Summary | null, kind: 'users' | 'groups'): Counts | undefined =>
  summary?.[kind];

/** How many managers are named. For the rest, only the number is shown. */
const managersShown = 5;

/** Returns which managers a run removes: "2 managers are removed: …". */
export function managersNamed(t: Translator, { count, names }: Run['managersRemoved']): string {
  const shown = names.slice(0, managersShown).join(', ');
  return count > managersShown
    ? t('runs.managersAndMore', { count, names: shown, more: count - managersShown })
    : t('runs.managers', { count, names: shown });
}
