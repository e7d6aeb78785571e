// The findings at the top of an overview: at most three, chosen by fixed rules (docs/administrators/statistics.md). A change or
// difference that is not clear is never a finding. Pure.
import type {
  FigureChange,
  Difference,
  Finding,
  GroupResults,
  RateFigure,
  ResultGroup,
} from '@soundings/contract/console/results.ts';

/** How many findings there are at most. */
const most = 3;

type Kpis = readonly Pick<GroupResults['kpis'][number], 'id' | 'name' | 'rolling' | 'difference'>[];

/** Returns the items whose change or difference is clear, those furthest from 0 first. */
const clearest = <T>(all: readonly T[], of: (one: T) => FigureChange | Difference | null): T[] => {
  const sizeOf = (one: T) => Math.abs(of(one)?.by ?? 0);
  return all
    .filter((one) => (of(one)?.verdict ?? 'unclear') !== 'unclear')
    .toSorted((a, b) => sizeOf(b) - sizeOf(a));
};

const changeOf = (one: Kpis[number]) => one.rolling.at(-1)?.change ?? null;

/** Returns the KPI with the largest clear change, if any. */
export const mostChanged = (kpis: Kpis): Kpis[number] | undefined => clearest(kpis, changeOf)[0];

/** Returns the subgroup with the largest clear change in the same direction, if any. */
export const mostIn = (
  subgroups: readonly { group: ResultGroup; change: FigureChange | null }[],
  { verdict }: FigureChange,
): ResultGroup | null =>
  clearest(subgroups, ({ change }) => change).find(({ change }) => change?.verdict === verdict)?.group ??
  null;

/**
 * Returns the findings: the largest clear change of a KPI, the largest clear difference from the comparison, and the largest clear change
 * of a question that is not part of that KPI. The response of the last week is always the last of the three, if it is known.
 */
export function findingsOf({
  kpis,
  largestIn,
  questionIdsOf,
  last,
  rates,
}: {
  kpis: Kpis;
  /** The result of `mostIn` for the KPI with the largest change. */
  largestIn: ResultGroup | null;
  questionIdsOf: (kpiId: string) => readonly number[];
  last: GroupResults['last'];
  rates: readonly RateFigure[];
}): Finding[] {
  const findings: Finding[] = [];
  const changed = mostChanged(kpis);
  const change = changed && changeOf(changed);
  if (changed && change) findings.push({ kind: 'kpi', kpi: headOf(changed), change, mostIn: largestIn });
  const [differing] = clearest(kpis, ({ difference }) => difference);
  if (differing?.difference)
    findings.push({ kind: 'difference', kpi: headOf(differing), difference: differing.difference });
  const known = changed ? questionIdsOf(changed.id) : [];
  const [question] = clearest(
    (last?.questions ?? []).filter(({ id }) => !known.includes(id)),
    (one) => one.change,
  );
  if (question?.change) {
    const { id, text, week } = question;
    findings.push({ kind: 'question', question: { id, text }, week, change: question.change });
  }
  const rate = rates.find(({ week }) => week === last?.week.week);
  const { week = '', asked = null, answered = null } = rate ?? {};
  if (asked === null || answered === null) return findings.slice(0, most);
  return [...findings.slice(0, most - 1), { kind: 'response', week, asked, answered }];
}

const headOf = ({ id, name }: Kpis[number]) => ({ id, name });
