// Turns the findings of a group into sentences, each with a link to the page that shows its evidence. Pure.
import { clearPoints } from '@soundings/contract/console/results/points.ts';
import type {
  ChosenComparison,
  FigureChange,
  Finding,
  GroupResults,
  Verdict,
} from '@soundings/contract/console/results/results.ts';
import { listedIn } from '@soundings/contract/texts.ts';
import type { Translator } from '../../../text/text.tsx';

export type FindingText = {
  key: string;
  text: string;
  /** Whether it is partly based on links or cards that the employer handed out. */
  handedOut: boolean;
  /** The page of the evidence, with its parameters. */
  to: '/trends' | '/results/questions/$questionId';
  params?: { questionId: string };
  search: Record<string, string | number>;
};

/** What is needed for the texts. `sinceText` says since when a change is, such as "since week 38". */
export type FindingTexts = {
  t: Translator;
  language: string;
  sinceText: (change: FigureChange) => string;
};

type About = Pick<GroupResults, 'group' | 'path' | 'company' | 'comparison'>;

/** Returns at most three findings as sentences. A change or difference that is not clear is never a finding. */
export const findingTexts = (
  findings: readonly Finding[],
  about: About,
  texts: FindingTexts,
): FindingText[] => findings.flatMap((finding) => textOf(finding, about, texts) ?? []).slice(0, 3);

function textOf(finding: Finding, about: About, texts: FindingTexts): FindingText | undefined {
  switch (finding.kind) {
    case 'kpi':
      return kpiText(finding, about, texts);
    case 'kpis':
      return kpisText(finding, about, texts);
    case 'difference':
      return differenceText(finding, about, texts);
    case 'question':
      return questionText(finding, about, texts);
    case 'response':
      return responseText(finding, about, texts);
  }
}

type Of<Kind extends Finding['kind']> = Extract<Finding, { kind: Kind }>;

function kpiText(
  { kpi, change, clearIn, mostIn }: Of<'kpi'>,
  { group }: About,
  { t, language, sinceText }: FindingTexts,
) {
  if (change.verdict === 'unclear') return undefined;
  const values = {
    direction: directionIn(change),
    kpi: kpi.name,
    points: Math.abs(clearPoints(change)),
    since: sinceText(change),
  };
  const places = mostIn ? [mostIn] : clearIn;
  const names = places.map(({ name }) => name);
  const groups = listedIn(language, names, (count) => t('results.finding.otherGroups', { count }));
  return {
    key: `kpi ${kpi.id}`,
    handedOut: change.handedOut,
    text: mostIn
      ? t('results.finding.kpiMostIn', { ...values, group: mostIn.name })
      : places.length > 0
        ? t('results.finding.kpiClearlyIn', { ...values, groups })
        : t('results.finding.kpi', values),
    ...trendOf(kpi.id, [group.id, ...places.slice(0, 3).map(({ id }) => id)]),
  };
}

/** All other KPIs that have clearly changed. The page of the evidence begins with the first of them. */
function kpisText(
  { rose, fell, handedOut }: Of<'kpis'>,
  { group }: About,
  { t, language }: FindingTexts,
): FindingText | undefined {
  const [first] = [...rose, ...fell];
  if (!first) return undefined;
  const [up, down] = [rose, fell].map((kpis) => {
    const names = kpis.map(({ name }) => name);
    return listedIn(language, names, (count) => t('results.finding.otherKpis', { count }));
  }) as [string, string];
  return {
    key: 'kpis',
    handedOut,
    text:
      fell.length === 0
        ? t('results.finding.kpisRose', { kpis: up })
        : rose.length === 0
          ? t('results.finding.kpisFell', { kpis: down })
          : t('results.finding.kpisBoth', { rose: up, fell: down }),
    ...trendOf(first.id, [group.id]),
  };
}

function differenceText({ kpi, difference }: Of<'difference'>, about: About, { t }: FindingTexts) {
  const { group, comparison } = about;
  if (difference.verdict === 'unclear' || comparison.kind === 'none') return undefined;
  const values = {
    direction: directionIn(difference),
    kpi: kpi.name,
    points: Math.abs(clearPoints(difference)),
  };
  const isEarlier = comparison.kind === 'halfYear';
  const beside = openBeside(about, comparison);
  const trend = trendOf(kpi.id, beside === undefined ? [group.id] : [group.id, beside]);
  return {
    key: `difference ${kpi.id}`,
    handedOut: difference.handedOut,
    text:
      isEarlier || !comparison.group
        ? t('results.finding.halfYear', values)
        : t('results.finding.difference', { ...values, group: comparison.group.name }),
    ...trend,
    // The trend must reach back half a year, to the value that is compared with.
    search: isEarlier ? { ...trend.search, weeks: 52 } : trend.search,
  };
}

/** Returns the id of the group that is compared with, if the caller can see its results. */
const openBeside = ({ path, company }: About, { group }: ChosenComparison): number | undefined =>
  group && [...path, ...(company ? [company] : [])].some(({ id }) => id === group.id) ? group.id : undefined;

function questionText({ question, week, change }: Of<'question'>, { group }: About, texts: FindingTexts) {
  if (change.verdict === 'unclear') return undefined;
  return {
    key: `question ${question.id}`,
    handedOut: change.handedOut,
    text: texts.t('results.finding.question', {
      direction: directionIn(change),
      question: question.text,
      points: Math.abs(clearPoints(change)),
      since: texts.sinceText(change),
    }),
    to: '/results/questions/$questionId' as const,
    params: { questionId: String(question.id) },
    search: { group: group.id, week },
  };
}

function responseText({ answered, asked }: Of<'response'>, { group }: About, { t }: FindingTexts) {
  if (asked === 0) return undefined;
  return {
    key: 'response',
    handedOut: false,
    text: t('results.finding.response', { percent: Math.round((100 * answered) / asked), answered, asked }),
    to: '/trends' as const,
    search: { of: 'response', groups: String(group.id) },
  };
}

const directionIn = ({ verdict }: { verdict: Verdict }): 'up' | 'other' =>
  verdict === 'up' ? 'up' : 'other';

const trendOf = (kpiId: string, groupIds: number[]) => ({
  to: '/trends' as const,
  search: { kpi: kpiId, groups: groupIds.join() },
});
