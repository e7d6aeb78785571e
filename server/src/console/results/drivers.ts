// Key drivers: reads the latest published figures of the groups that the caller may see, and computes on a thread which KPIs go along
// with an outcome.
import type { DriverOutcome, Drivers } from '@soundings/contract/console/results/drivers.ts';
import { minimumDriverGroups } from '@soundings/contract/limits.ts';
import { recommendation } from '@soundings/contract/question-types.ts';
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import { invalidParameter } from '../../base/errors.ts';
import type { Db } from '../../db/db.ts';
import { selectGroups } from '../../people/groups.sql.ts';
import type { Kpi } from '../../questions/questions.sql.ts';
import { kpiNameIn } from '../../questions/questions.ts';
import { latestFigures } from '../../results/data/latest-figures.ts';
import type { LatestFigures } from '../../results/data/latest-figures.sql.ts';
import { kpisIn, shownQuestions } from '../../results/data/read-results.ts';
import type { Window } from '../../results/data/window.ts';
import type { ComputeDrivers } from '../../results/statistics/drivers-thread.ts';
import type { Who } from '../core/console.ts';
import { openGroups } from '../groups/open-groups.ts';
import { headOf, readWeeks } from './reading.ts';

/** `outcome`: the id of an outcome; undefined: the default one. */
type Wanted = { outcome: string | undefined; weeks: number; language: string };

/** An outcome, with its questions. */
type Candidate = DriverOutcome & { questionIds: readonly number[] };

/** Returns the drivers. Throws a Fault if the outcome has no figures that the caller may see. */
export async function readDrivers(
  db: Db,
  compute: ComputeDrivers,
  who: Who,
  { outcome: wanted, weeks: span, language }: Wanted,
): Promise<Drivers> {
  const { accountId } = who;
  const [weeks, groups, open, questions] = await Promise.all([
    readWeeks(db, who),
    selectGroups(db, accountId),
    openGroups(db, who),
    shownQuestions(db, accountId, language),
  ]);
  const last = weeks.shown.find(({ state }) => state === 'final')?.week;
  const kpis = last === undefined ? [] : await kpisIn(db, accountId, windowTo(last, span));
  const recommended = [...questions.values()].filter(({ type }) => type === recommendation);
  const ids = [
    ...new Set([...kpis.flatMap(({ questionIds }) => questionIds), ...recommended.map(({ id }) => id)]),
  ];
  const all = last === undefined ? [] : await latestFigures(db, accountId, ids, windowTo(last, span));
  const figures = all.filter(({ groupId }) => open?.has(groupId) !== false);

  const candidates = candidatesOf(kpis, recommended, language).filter(({ questionIds }) =>
    questionIds.some((id) => isShown(figures, id)),
  );
  const outcome = candidateNamed(candidates, wanted);
  const outcomes = candidates.map(outcomeOf);
  if (!outcome) return { ...none, outcomes, outcome: null };

  const result = await compute({
    parents: groups.map(({ id, parentId }) => [id, parentId] as const),
    figures: figures.map(({ groupId, figures: text }) => [groupId, text] as const),
    kpis: kpis
      .filter(({ id }) => outcome.id !== `kpi:${id}`)
      .map(({ id, questionIds }) => ({ id, questionIds })),
    outcome: outcome.questionIds,
  });
  const used = new Set(result.groupIds);
  const behind = figures.filter(({ groupId }) => used.has(groupId));
  const tree = groups.find(({ id }) => id === result.treeId && open?.has(id) !== false);
  const names = new Map(kpis.map((kpi) => [kpi.id, kpiNameIn(kpi, language)]));
  const headOfKpi = (id: string) => ({ id, name: names.get(id) ?? id });
  return {
    outcomes,
    outcome: outcomeOf(outcome),
    state: result.state,
    groups: used.size,
    minimumGroups: minimumDriverGroups,
    tree: tree ? headOf(tree) : null,
    weeks: weeksOf(behind).map(weeks.named),
    explained: result.explained,
    drivers: result.drivers.map(({ kpiId, ...driver }) => ({ ...headOfKpi(kpiId), ...driver })),
    leftOut: result.leftOut.map(({ kpiId, reason }) => ({ ...headOfKpi(kpiId), reason })),
    handedOut: behind.some(({ handedOut }) => handedOut),
  };
}

const none = {
  state: 'few' as const,
  groups: 0,
  minimumGroups: minimumDriverGroups,
  tree: null,
  weeks: [],
  explained: null,
  drivers: [],
  leftOut: [],
  handedOut: false,
};

const windowTo = (last: Week, span: number): Window => ({ first: addWeeks(last, 1 - span), last });

/** Whether one of the groups has a figure of a question. The texts are searched because parsing them all would take longer. */
const isShown = (figures: readonly LatestFigures[], questionId: number) =>
  figures.some(({ figures: text }) => text.includes(`[${questionId},`));

/** Returns KPIs and recommendation questions, each sorted by name. */
function candidatesOf(
  kpis: readonly Kpi[],
  recommended: readonly { id: number; text: string }[],
  language: string,
): Candidate[] {
  const { compare } = new Intl.Collator(language, { numeric: true });
  const byName = (a: Candidate, b: Candidate) => compare(a.name, b.name);
  const ofKpis = kpis.map((kpi): Candidate => {
    const { id, questionIds } = kpi;
    return { id: `kpi:${id}`, kind: 'kpi', name: kpiNameIn(kpi, language), questionIds };
  });
  const ofQuestions = recommended.map(({ id, text }): Candidate => ({
    id: `question:${id}`,
    kind: 'question',
    name: text,
    questionIds: [id],
  }));
  return [...ofKpis.toSorted(byName), ...ofQuestions.toSorted(byName)];
}

/** Returns the same outcome in every language: a recommendation question, or else the KPI whose id comes first. */
const defaultOf = (candidates: readonly Candidate[]): Candidate | undefined =>
  candidates.find(({ kind }) => kind === 'question') ??
  candidates.toSorted((a, b) => (a.id < b.id ? -1 : 1))[0];

const outcomeOf = ({ id, kind, name }: Candidate): DriverOutcome => ({ id, kind, name });

function candidateNamed(candidates: readonly Candidate[], wanted: string | undefined): Candidate | undefined {
  if (wanted === undefined) return defaultOf(candidates);
  const found = candidates.find(({ id }) => id === wanted);
  if (found) return found;
  throw invalidParameter('outcome', 'There are no results to show for that KPI or question.');
}

/** Returns the weeks that figures come from, oldest first. */
const weeksOf = (figures: readonly LatestFigures[]): Week[] =>
  [...new Set(figures.flatMap(({ weeks }) => weeks.split(',')))].toSorted() as Week[];
