// The tables of the pages of results as CSV: scores of 0 to 100 with a point, what is withheld in words, what was not asked
// empty. Pure.
import type {
  Figure,
  GroupResults,
  HeatMap,
  HeatRow,
  QuestionResults,
  ResultComment,
  ResultWeek,
  Trend,
} from '@soundings/contract/console.results.ts';
import { type HeatFilters, shownRows } from '@soundings/contract/heat-rows.ts';
import { weekName } from '@soundings/contract/weeks.ts';
import { byteOrderMark, type Cell, csvRow } from '../base/csv.ts';

const words = {
  en: {
    week: 'Week',
    monday: 'Monday',
    group: 'Group',
    path: 'Path',
    people: 'People',
    rate: 'Response rate, %',
    difference: 'difference to',
    question: 'Question',
    comment: 'Comment',
    answer: 'Answer',
    score: 'Score',
    answers: 'Answers',
    enps: 'eNPS',
    hidden: 'hidden',
    handedOut: 'Rests partly on handed-out links',
    yes: 'Yes',
    no: 'No',
  },
  sv: {
    week: 'Vecka',
    monday: 'Måndag',
    group: 'Grupp',
    path: 'Sökväg',
    people: 'Personer',
    rate: 'Svarsfrekvens, %',
    difference: 'skillnad mot',
    question: 'Fråga',
    comment: 'Kommentar',
    answer: 'Svar',
    score: 'Poäng',
    answers: 'Antal svar',
    enps: 'eNPS',
    hidden: 'dold',
    handedOut: 'Bygger delvis på utdelade länkar',
    yes: 'Ja',
    no: 'Nej',
  },
};
type Words = (typeof words)['en'];

export const wordsIn = (language: string): Words => (language === 'sv' ? words.sv : words.en);

/** The text of a file: a header and rows. */
const tableOf = (rows: Cell[][]): string => byteOrderMark + rows.map(csvRow).join('');

/** 0 to 100, with one decimal; a word where it is withheld, nothing where it was not asked. */
const score = (value: number | null | undefined, { hidden }: Words): Cell =>
  value === undefined ? null : value === null ? hidden : Math.round(value * 1000) / 10;

const scoreIn = (figures: Figure[], week: string, said: Words): Cell =>
  score(figureIn(figures, week)?.value, said);

/** The last column of a table: the names of the columns whose figure rests on links or cards handed out by the employer (P14). */
const handedOutCell = (columns: readonly { name: string; handedOut: boolean | undefined }[]): Cell =>
  columns
    .filter(({ handedOut }) => handedOut)
    .map(({ name }) => name)
    .join('; ') || null;

const figureIn = (figures: readonly Figure[], week: string) => figures.find((one) => one.week === week);

const weekCells = ({ week }: { week: string }): Cell[] => [weekName(week), { day: week }];

/** A row for each week of a group: its response rate and its KPIs. */
export const groupTable = ({ weeks, kpis, rates }: GroupResults, said: Words): string =>
  tableOf([
    [said.week, said.monday, said.rate, ...kpis.map(({ name }) => name), said.handedOut],
    ...weeks.map(({ week }) => [
      ...weekCells({ week }),
      scoreIn(rates, week, said),
      ...kpis.map(({ values }) => scoreIn(values, week, said)),
      handedOutCell([
        { name: said.rate, handedOut: figureIn(rates, week)?.handedOut },
        ...kpis.map(({ name, values }) => ({ name, handedOut: figureIn(values, week)?.handedOut })),
      ]),
    ]),
  ]);

export type HeatTableFilters = HeatFilters & {
  isDifference: boolean;
  compare: (a: string, b: string) => number;
};

/** A row for each group that the filters leave, after the company's. Scores, or how far they are from the company's. */
export function heatTable(map: HeatMap, filters: HeatTableFilters, said: Words): string {
  const { kpis, rows, week, companyId } = map;
  const company = rows.find(({ id }) => id === companyId);
  const others = shownRows(map, filters, filters.compare).filter((row) => row !== company);
  const base = filters.isDifference ? company : undefined;
  const names = new Map(rows.map(({ id, name, parentId }) => [id, { name, parentId }]));
  const pathOf = (parentId: number | null): string => {
    const above = parentId === null ? undefined : names.get(parentId);
    return above ? [pathOf(above.parentId), above.name].filter(Boolean).join(' / ') : '';
  };
  const headerOf = (name: string, own: ResultWeek) =>
    (own.week === week?.week ? name : `${name} (${weekName(own.week)})`) +
    (base ? `, ${said.difference} ${base.name}` : '');
  const headers = kpis.map((kpi) => headerOf(kpi.name, kpi.week));
  const cell = (value: HeatRow['values'][number], kpi: number): Cell => {
    const own = score(value === 'none' ? undefined : value, said);
    if (!base || typeof own !== 'number') return own;
    const other = base.values[kpi];
    return typeof other === 'number' ? Math.round(((value as number) - other) * 1000) / 10 : said.hidden;
  };
  return tableOf([
    [said.group, said.path, said.people, said.rate, ...headers, said.handedOut],
    ...[...(company ? [company] : []), ...others].map((row): Cell[] => [
      row.name,
      pathOf(row.parentId),
      row.people,
      score(row.rate, said),
      ...row.values.map(cell),
      handedOutCell([
        { name: said.rate, handedOut: row.handedOut.includes('rate') },
        ...headers.map((name, kpi) => ({
          name,
          handedOut: row.handedOut.includes(kpi) || base?.handedOut.includes(kpi),
        })),
      ]),
    ]),
  ]);
}

/** A row for each week, a column for each group. */
export const trendTable = ({ weeks, series }: Trend, said: Words): string =>
  tableOf([
    [said.week, said.monday, ...series.map(({ group }) => group.name), said.handedOut],
    ...weeks.map(({ week }) => [
      ...weekCells({ week }),
      ...series.map(({ values }) => scoreIn(values, week, said)),
      handedOutCell(
        series.map(({ group, values }) => ({
          name: group.name,
          handedOut: figureIn(values, week)?.handedOut,
        })),
      ),
    ]),
  ]);

/** A row for each week and answer that can be given. */
export function questionTable({ question, figures }: QuestionResults, said: Words): string {
  const nameOf = (key: string) => {
    const option = question.options.find(({ id }) => id === key)?.text;
    if (option !== undefined) return option;
    if (question.type === 4) return key === 'yes' ? said.yes : said.no;
    return question.scale.find(({ value }) => String(value) === key)?.text ?? key;
  };
  const keys =
    figures.findLast(({ distribution }) => distribution !== null)?.distribution?.map(({ key }) => key) ?? [];
  const hasEnps = question.type === 3;
  return tableOf([
    [
      said.week,
      said.monday,
      said.score,
      said.answers,
      ...(hasEnps ? [said.enps] : []),
      ...keys.map(nameOf),
      said.handedOut,
    ],
    ...figures.map(({ week, value, answers, enps, distribution, handedOut }): Cell[] => [
      ...weekCells({ week }),
      question.type > 4 ? null : score(value, said),
      answers ?? said.hidden,
      ...(hasEnps ? [enps === null ? said.hidden : Math.round(enps)] : []),
      ...keys.map((key) =>
        distribution ? (distribution.find((one) => one.key === key)?.count ?? 0) : said.hidden,
      ),
      handedOut ? said.yes : null,
    ]),
  ]);
}

export const commentTable = (comments: ResultComment[], said: Words): string =>
  tableOf([
    [said.week, said.question, said.comment, said.handedOut],
    ...comments.map(({ week, question, text, handedOut }) => [
      weekName(week),
      question,
      text,
      handedOut ? said.yes : null,
    ]),
  ]);
