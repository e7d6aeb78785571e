// Turns the findings of a group into sentences, each with a link to the page that shows its evidence. Pure.
import type {
  ChosenComparison,
  Finding,
  GroupResults,
  Verdict,
} from '@soundings/contract/console/results.ts';
import type { Translator } from '../../../text/text.tsx';
import { clearPoints } from '../figures.ts';

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

/** What is needed for the texts. `weekText` names a week, such as "week 38". */
export type FindingTexts = { t: Translator; weekText: (week: string) => string };

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
    case 'difference':
      return differenceText(finding, about, texts);
    case 'question':
      return questionText(finding, about, texts);
    case 'response':
      return responseText(finding, about, texts);
  }
}

type Of<Kind extends Finding['kind']> = Extract<Finding, { kind: Kind }>;

function kpiText({ kpi, change, mostIn }: Of<'kpi'>, { group }: About, { t, weekText }: FindingTexts) {
  if (change.verdict === 'unclear') return undefined;
  const values = {
    direction: directionIn(change),
    kpi: kpi.name,
    points: Math.abs(clearPoints(change)),
    week: weekText(change.since),
  };
  return {
    key: `kpi ${kpi.id}`,
    handedOut: change.handedOut,
    text: mostIn
      ? t('results.finding.kpiMostIn', { ...values, group: mostIn.name })
      : t('results.finding.kpi', values),
    ...trendOf(kpi.id, mostIn ? [group.id, mostIn.id] : [group.id]),
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
      week: texts.weekText(change.since),
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
