// The lines of the feed (GET /v1/feed) in a state of an account. What the feed computes from published figures, such as changes, is not in them.
import { type AccountState, type Asked, type DataRequest, textIn } from './account-state.ts';
import type { Place } from './figures.ts';
import { yearAndWeek } from './iso-weeks.ts';

/** `null` and missing cells are empty in both formats. */
type Line = Record<string, unknown>;
const columns =
  'metric metricId metricName groupId groupExternalId groupName week monday value answers status asked answered';
const textOf = (line: Line) =>
  columns
    .split(' ')
    .map((name) => line[name] ?? '')
    .map((cell) => (typeof cell === 'number' ? tenDigits(cell) : cell))
    .join('|');

export function feedOf(state: AccountState, request: DataRequest, isIn: (place: Place) => boolean): string[] {
  const { groups, kpis, questions } = state;
  const lineOf = ({ g, week }: Place, status: string, about: Line, figures: Line = {}) => {
    const { externalId, name } = groups.find(({ id }) => id === g)!;
    const group = { groupId: g, groupExternalId: externalId, groupName: name };
    return { ...group, week: yearAndWeek(week).join('-W'), monday: week, status, ...about, ...figures };
  };
  const closed = (place: Place, about: Line, figures: { value: number | null; answers?: number | null }) =>
    lineOf(place, (figures.value ?? figures.answers ?? null) === null ? 'withheld' : 'shown', about, figures);
  const ofKpi = (kpiId: string): Line => {
    const { id, name } = kpis.find((one) => one.id === kpiId)!;
    return { metric: 'kpi', metricId: id, metricName: name };
  };
  const ofRate = { metric: 'responserate', metricName: 'Response rate' };
  const ofQuestion = (q: number): Line => {
    const metricName = textIn(
      request,
      questions.find(({ id }) => id === q)!,
    );
    return { metric: 'question', metricId: q, metricName };
  };
  const open = (one: Asked) => {
    const askedKpis = kpis.filter(({ questionIds }) => questionIds.some((q) => one.questionIds.includes(q)));
    const about = [ofRate, ...askedKpis.map(({ id }) => ofKpi(id)), ...one.questionIds.map(ofQuestion)];
    return about.map((metric) => lineOf(one, 'open', metric));
  };
  const lines = [
    ...state.kpiFigures.filter(isIn).map((one) => closed(one, ofKpi(one.kpi), { value: one.value })),
    ...state.rates.filter(isIn).map(({ g, week, ...figures }) => closed({ g, week }, ofRate, figures)),
    ...state.results
      .filter(isIn)
      .map(({ value, answers, ...one }) => closed(one, ofQuestion(one.q), { value, answers })),
    ...state.asked.filter((one) => one.isOpen && isIn(one)).flatMap(open),
  ];
  return lines.map(textOf).toSorted();
}

/** Returns the lines of a response of the feed, as `feedOf` does. No cell may contain a comma or a quotation mark. */
export function linesOfFeed(text: string, format: DataRequest['format']): string[] {
  const lines = text.split(/\r?\n/).filter((one) => one !== '');
  if (format === 'ndjson') return lines.map((one) => textOf(JSON.parse(one) as Line)).toSorted();
  const [head, ...rows] = lines.map((one) =>
    one
      .replace(/^\u{feff}/u, '')
      .replaceAll('"', '')
      .split(','),
  );
  return rows
    .map((cells) => Object.fromEntries(head!.map((name, i) => [name, cells[i]])))
    .map(({ value, ...row }) => textOf({ ...row, value: value ? Number(value) : '' }))
    .toSorted();
}

/** Returns the number with ten digits: sums may be added up in another order. */
export const tenDigits = (n: number): number => Number(n.toPrecision(10));
