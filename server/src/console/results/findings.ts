// The findings at the top of an overview: at most three, chosen by fixed rules (docs/administrators/statistics.md). A change or
// difference that is not clear is never a finding. Pure.
import type {
  FigureChange,
  Difference,
  Finding,
  GroupResults,
  KpiPlaces,
  RateFigure,
} from '@soundings/contract/console/results/results.ts';

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

/**
 * Returns the findings: the largest clear change of a KPI, the largest clear difference from the comparison, and the largest clear change
 * of a question that is not part of that KPI. Places that are left are for the other KPIs that have clearly changed. The response of the
 * last week is always the last, if it is known.
 */
export function findingsOf({
  kpis,
  places,
  questionIdsOf,
  last,
  rates,
}: {
  kpis: Kpis;
  /** Of the KPI with the largest change. */
  places: KpiPlaces;
  questionIdsOf: (kpiId: string) => readonly number[];
  last: GroupResults['last'];
  rates: readonly RateFigure[];
}): Finding[] {
  const findings: Finding[] = [];
  const [changed, ...others] = clearest(kpis, changeOf);
  const change = changed && changeOf(changed);
  if (changed && change) findings.push({ kind: 'kpi', kpi: headOf(changed), change, ...places });
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
  const response = responseOf(last, rates);
  const room = most - response.length;
  return [...findings, ...furtherOf(others, room - findings.length)].slice(0, room).concat(response);
}

/** Returns findings about other KPIs, the largest changes first. If there is no room for each, the last is about all that remain. */
function furtherOf(kpis: Kpis, room: number): Finding[] {
  if (room <= 0) return [];
  const single = kpis.length > room ? room - 1 : kpis.length;
  const findings = kpis.slice(0, single).flatMap((kpi): Finding[] => {
    const change = changeOf(kpi);
    return change ? [{ kind: 'kpi', kpi: headOf(kpi), change, clearIn: [], mostIn: null }] : [];
  });
  const rest = kpis.slice(single);
  if (rest.length === 0) return findings;
  const inDirection = (verdict: 'up' | 'down') =>
    rest.filter((kpi) => changeOf(kpi)?.verdict === verdict).map(headOf);
  const handedOut = rest.some((kpi) => changeOf(kpi)?.handedOut);
  return [...findings, { kind: 'kpis', rose: inDirection('up'), fell: inDirection('down'), handedOut }];
}

function responseOf(last: GroupResults['last'], rates: readonly RateFigure[]): Finding[] {
  const rate = rates.find(({ week }) => week === last?.week.week);
  const { week = '', asked = null, answered = null } = rate ?? {};
  return asked === null || answered === null ? [] : [{ kind: 'response', week, asked, answered }];
}

const headOf = ({ id, name }: Kpis[number]) => ({ id, name });
