// The tables of the results pages as CSV: scores from 0 to 100 with a decimal point, a word for withheld figures, and empty cells
// for what was not asked. Pure.
import type {
  Figure,
  GroupResults,
  HeatMap,
  HeatRow,
  QuestionResults,
  ResultComment,
  ResultWeek,
  Trend,
} from '@soundings/contract/console/results.ts';
import { type HeatFilters, shownRows } from '@soundings/contract/heat-rows.ts';
import { weekName } from '@soundings/contract/weeks.ts';
import { byteOrderMark, type Cell, csvRow } from '../../base/csv.ts';
import { catalogue } from '../../base/texts.ts';
import type { Arguments } from './text/arguments.ts';
import en from './text/en/tables.json' with { type: 'json' };
import sv from './text/sv/tables.json' with { type: 'json' };

/** The words of the tables. */
export const tableTexts = catalogue<typeof en, Arguments['tables']>({ en, sv });
type Texts = ReturnType<typeof tableTexts.in>;

/** Returns the text of a CSV file with these rows. */
const tableOf = (rows: Cell[][]): string => byteOrderMark + rows.map(csvRow).join('');

/** Returns a score from 0 to 100 with one decimal; a word if it is withheld; null if it was not asked. */
const score = (value: number | null | undefined, t: Texts): Cell =>
  value === undefined ? null : value === null ? t('withheld') : Math.round(value * 1000) / 10;

const scoreIn = (figures: Figure[], week: string, t: Texts): Cell => score(figureIn(figures, week)?.value, t);

/** Returns the last cell of a row: the columns whose figure is partly based on links or cards from the employer (P14). */
const handedOutCell = (columns: readonly { name: string; handedOut: boolean | undefined }[]): Cell =>
  columns
    .filter(({ handedOut }) => handedOut)
    .map(({ name }) => name)
    .join('; ') || null;

const figureIn = (figures: readonly Figure[], week: string) => figures.find((one) => one.week === week);

const weekCells = ({ week }: { week: string }): Cell[] => [weekName(week), { day: week }];

/** Returns a row for each week of a group: its response rate and its KPIs. */
export const groupTable = ({ weeks, kpis, rates }: GroupResults, t: Texts): string =>
  tableOf([
    [t('week'), t('monday'), t('rate'), ...kpis.map(({ name }) => name), t('handedOut')],
    ...weeks.map(({ week }) => [
      ...weekCells({ week }),
      scoreIn(rates, week, t),
      ...kpis.map(({ values }) => scoreIn(values, week, t)),
      handedOutCell([
        { name: t('rate'), handedOut: figureIn(rates, week)?.handedOut },
        ...kpis.map(({ name, values }) => ({ name, handedOut: figureIn(values, week)?.handedOut })),
      ]),
    ]),
  ]);

export type HeatTableFilters = HeatFilters & {
  isDifference: boolean;
  compare: (a: string, b: string) => number;
};

/** Returns a row for the company and for each group that matches: scores, or their difference from the company's. */
export function heatTable(map: HeatMap, filters: HeatTableFilters, t: Texts): string {
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
    (base ? `, ${t('difference', { name: base.name })}` : '');
  const headers = kpis.map((kpi) => headerOf(kpi.name, kpi.week));
  const cell = (value: HeatRow['values'][number], kpi: number): Cell => {
    const own = score(value === 'none' ? undefined : value, t);
    if (!base || typeof own !== 'number') return own;
    const other = base.values[kpi];
    return typeof other === 'number' ? Math.round(((value as number) - other) * 1000) / 10 : t('withheld');
  };
  return tableOf([
    [t('group'), t('path'), t('people'), t('rate'), ...headers, t('handedOut')],
    ...[...(company ? [company] : []), ...others].map((row): Cell[] => [
      row.name,
      pathOf(row.parentId),
      row.people,
      score(row.rate, t),
      ...row.values.map(cell),
      handedOutCell([
        { name: t('rate'), handedOut: row.handedOut.includes('rate') },
        ...headers.map((name, kpi) => ({
          name,
          handedOut: row.handedOut.includes(kpi) || base?.handedOut.includes(kpi),
        })),
      ]),
    ]),
  ]);
}

/** Returns a row for each week, with a column for each group. */
export const trendTable = ({ weeks, series }: Trend, t: Texts): string =>
  tableOf([
    [t('week'), t('monday'), ...series.map(({ group }) => group.name), t('handedOut')],
    ...weeks.map(({ week }) => [
      ...weekCells({ week }),
      ...series.map(({ values }) => scoreIn(values, week, t)),
      handedOutCell(
        series.map(({ group, values }) => ({
          name: group.name,
          handedOut: figureIn(values, week)?.handedOut,
        })),
      ),
    ]),
  ]);

/** Returns a row for each week, with a column for each possible answer. */
export function questionTable({ question, figures }: QuestionResults, t: Texts): string {
  const nameOf = (key: string) => {
    const option = question.options.find(({ id }) => id === key)?.text;
    if (option !== undefined) return option;
    if (question.type === 4) return key === 'yes' ? t('yes') : t('no');
    return question.scale.find(({ value }) => String(value) === key)?.text ?? key;
  };
  const keys =
    figures.findLast(({ distribution }) => distribution !== null)?.distribution?.map(({ key }) => key) ?? [];
  const hasEnps = question.type === 3;
  return tableOf([
    [
      t('week'),
      t('monday'),
      t('score'),
      t('answers'),
      ...(hasEnps ? [t('enps')] : []),
      ...keys.map(nameOf),
      t('handedOut'),
    ],
    ...figures.map(({ week, value, answers, enps, distribution, handedOut }): Cell[] => [
      ...weekCells({ week }),
      question.type > 4 ? null : score(value, t),
      answers ?? t('withheld'),
      ...(hasEnps ? [enps === null ? t('withheld') : Math.round(enps)] : []),
      ...keys.map((key) =>
        distribution ? (distribution.find((one) => one.key === key)?.count ?? 0) : t('withheld'),
      ),
      handedOut ? t('yes') : null,
    ]),
  ]);
}

export const commentTable = (comments: ResultComment[], t: Texts): string =>
  tableOf([
    [t('week'), t('question'), t('comment'), t('handedOut')],
    ...comments.map(({ week, question, text, handedOut }) => [
      weekName(week),
      question,
      text,
      handedOut ? t('yes') : null,
    ]),
  ]);
