// The tables of the results pages as CSV: scores from 0 to 100 with a decimal point, a word for withheld figures, and empty cells
// for questions that were not asked. Pure.
import type {
  Figure,
  GroupResults,
  HeatMap,
  HeatRow,
  QuestionFigures,
  QuestionResults,
  ResultComment,
  ResultQuestion,
  Trend,
  Verdict,
} from '@soundings/contract/console/results/results.ts';
import type { SegmentAnswers, SegmentMap } from '@soundings/contract/console/results/segments.ts';
import { type HeatFilters, shownRows } from '@soundings/contract/heat-rows.ts';
import { isScaled, recommendation, yesNo } from '@soundings/contract/question-types.ts';
import { weekName } from '@soundings/contract/weeks.ts';
import { byteOrderMark, type CsvCell, csvRow } from '../../base/csv.ts';
import { catalogue } from '../../base/texts.ts';
import type { Arguments } from './text/arguments.ts';
import en from './text/en/tables.json' with { type: 'json' };
import sv from './text/sv/tables.json' with { type: 'json' };

/** The words of the tables. */
export const tableTexts = catalogue<typeof en, Arguments['tables']>({ en, sv });
type Texts = ReturnType<typeof tableTexts.in>;

/** Returns the text of a CSV file with these rows. */
const tableOf = (rows: CsvCell[][]): string => byteOrderMark + rows.map(csvRow).join('');

/** Returns a score from 0 to 100 with one decimal; a word if it is withheld; null if the question or KPI was not asked. */
const score = (value: number | null | undefined, t: Texts): CsvCell =>
  value === undefined ? null : value === null ? t('withheld') : Math.round(value * 1000) / 10;

const scoreIn = (figures: Figure[], week: string, t: Texts): CsvCell =>
  score(figureIn(figures, week)?.value, t);

/**
 * Returns the last cell of a row, which lists the columns whose figure is partly based on links or cards that the employer handed
 * out (P14).
 */
const handedOutCell = (columns: readonly { name: string; handedOut: boolean | undefined }[]): CsvCell =>
  columns
    .filter(({ handedOut }) => handedOut)
    .map(({ name }) => name)
    .join('; ') || null;

const figureIn = (figures: readonly Figure[], week: string) => figures.find((one) => one.week === week);

const weekCells = ({ week }: { week: string }): CsvCell[] => [weekName(week), { day: week }];

/** Returns a change or difference in points with one decimal; null if there is none. */
const points = (by: number | null | undefined): CsvCell =>
  by === null || by === undefined ? null : Math.round(by * 1000) / 10;

const verdict = (one: { verdict: Verdict } | null | undefined, t: Texts): CsvCell =>
  one ? t(`verdict.${one.verdict}`) : null;

/**
 * Returns a row for each week of a group: its response rate, and for each KPI the rolling value and the value of the week alone. The
 * last rolling value of a KPI also has its difference from the comparison, if there is one.
 */
export function groupTable({ weeks, kpis, rates, comparison }: GroupResults, t: Texts): string {
  const isCompared = comparison.kind !== 'none';
  const from = t('difference', { name: comparison.group?.name ?? t(`comparison.${comparison.kind}`) });
  const differenceIn = ({ rolling, difference }: GroupResults['kpis'][number], week: string) =>
    rolling.findLast(({ value }) => value !== null)?.week === week ? difference : null;
  return tableOf([
    [
      t('week'),
      t('monday'),
      t('rate'),
      t('answered'),
      t('asked'),
      ...kpis.flatMap(({ name }) => [
        name,
        ...(['margin', 'change', 'isClear', 'weekOnly'] as const).map((key) => `${name}, ${t(key)}`),
        ...(isCompared ? [`${name}, ${from}`, `${name}, ${from}, ${t('isClear')}`] : []),
      ]),
      t('handedOut'),
    ],
    ...weeks.map(({ week }) => {
      const rate = rates.find((one) => one.week === week);
      return [
        ...weekCells({ week }),
        scoreIn(rates, week, t),
        rate?.answered ?? null,
        rate?.asked ?? null,
        ...kpis.flatMap((kpi): CsvCell[] => {
          const { values, rolling } = kpi;
          const own = rolling.find((one) => one.week === week);
          const difference = differenceIn(kpi, week);
          return [
            scoreIn(rolling, week, t),
            points(own?.margin),
            points(own?.change?.by),
            verdict(own?.change, t),
            scoreIn(values, week, t),
            ...(isCompared ? [points(difference?.by), verdict(difference, t)] : []),
          ];
        }),
        handedOutCell([
          { name: t('rate'), handedOut: rate?.handedOut },
          ...kpis.flatMap((kpi) => {
            const { name, values, rolling } = kpi;
            const own = rolling.find((one) => one.week === week);
            return [
              { name, handedOut: figureIn(values, week)?.handedOut || own?.handedOut },
              { name: `${name}, ${t('change')}`, handedOut: own?.change?.handedOut },
              { name: `${name}, ${from}`, handedOut: differenceIn(kpi, week)?.handedOut },
            ];
          }),
        ]),
      ];
    }),
  ]);
}

export type HeatTableFilters = HeatFilters & {
  isDifference: boolean;
  compare: (a: string, b: string) => number;
};

/**
 * Returns why a row has no difference for a KPI: it was not asked (empty), it is withheld, or there is nothing to compare its value
 * with.
 */
const wordFor = (value: HeatRow['values'][number] | undefined, t: Texts): CsvCell =>
  value === 'none' ? null : typeof value === 'number' ? t('incomparable') : t('withheld');

/** Returns a row for the company and for each group that matches: scores with their clear changes, or differences from the comparison. */
export function heatTable(map: HeatMap, filters: HeatTableFilters, t: Texts): string {
  const { rows, companyId } = map;
  const company = rows.find(({ id }) => id === companyId);
  const others = shownRows(map, filters, filters.compare).filter((row) => row !== company);
  const names = new Map(rows.map(({ id, name, parentId }) => [id, { name, parentId }]));
  const { heads, cellsOf } = heatColumns(map, filters, t);
  const all = [...(company ? [company] : []), ...others];
  return tableOf([heads, ...all.map((row) => cellsOf(row, pathIn(names, row.parentId)))]);
}

/** Yields the same table, of rows that are read in slices. */
export async function* heatTableInSlices(
  map: HeatMap,
  filters: HeatTableFilters,
  t: Texts,
  slices: AsyncIterable<readonly HeatRowWithPath[]>,
): AsyncGenerator<string> {
  const { heads, cellsOf } = heatColumns(map, filters, t);
  yield tableOf([heads]);
  for await (const rows of slices) yield rows.map((row) => csvRow(cellsOf(row, row.path))).join('');
}

/** A row with the names of the groups above it. */
export type HeatRowWithPath = HeatRow & { path: string };

type Named = { name: string; parentId: number | null };

/** Returns the names of a group and the groups above it, from the top. */
export function pathIn(names: { get(id: number): Named | undefined }, groupId: number | null): string {
  const group = groupId === null ? undefined : names.get(groupId);
  return group ? [pathIn(names, group.parentId), group.name].filter(Boolean).join(' / ') : '';
}

/** Returns the headings of a heat map's table, and the function that returns the cells of a row. */
function heatColumns(
  { kpis, comparison }: HeatMap,
  { isDifference }: HeatTableFilters,
  t: Texts,
): { heads: CsvCell[]; cellsOf: (row: HeatRow, path: string) => CsvCell[] } {
  const from = comparison.group?.name ?? t(`comparison.${comparison.kind}`);
  const headers = kpis.map(({ name }) =>
    isDifference ? `${name}, ${t('difference', { name: from })}` : name,
  );
  const second = kpis.map(({ name }) => `${name}, ${t(isDifference ? 'isClear' : 'clearChange')}`);
  const cellsOfKpi = (row: HeatRow, kpi: number): CsvCell[] => {
    if (!isDifference) {
      const value = row.values[kpi];
      return [score(value === 'none' ? undefined : value, t), points(row.changes[kpi])];
    }
    const difference = row.differences[kpi];
    if (row.id === comparison.group?.id) return [null, null];
    if (difference === null || difference === undefined) return [wordFor(row.values[kpi], t), null];
    return [points(difference), t(row.clear.includes(kpi) ? 'yes' : 'no')];
  };
  const heads = [
    t('group'),
    t('path'),
    t('people'),
    t('rate'),
    t('answered'),
    t('asked'),
    ...headers.flatMap((header, kpi) => [header, second[kpi] as string]),
    t('handedOut'),
  ];
  const cellsOf = (row: HeatRow, path: string): CsvCell[] => [
    row.name,
    path,
    row.people,
    score(row.rate, t),
    row.answered ?? null,
    row.asked ?? null,
    ...kpis.flatMap((_, kpi) => cellsOfKpi(row, kpi)),
    handedOutCell([
      { name: t('rate'), handedOut: row.handedOut.includes('rate') },
      ...headers.flatMap((name, kpi) => [
        { name, handedOut: (isDifference ? row.differencesHandedOut : row.handedOut).includes(kpi) },
        {
          name: second[kpi] as string,
          handedOut: !isDifference && row.changesHandedOut.includes(kpi),
        },
      ]),
    ]),
  ];
  return { heads, cellsOf };
}

/**
 * Returns a row for each week. For a KPI, each group has its rolling value, its margin and the value of the week alone; for the response
 * rate, how many people answered and were asked.
 */
export const trendTable = ({ kpi, weeks, series }: Trend, t: Texts): string =>
  tableOf([
    [
      t('week'),
      t('monday'),
      ...series.flatMap(({ group: { name } }) => [
        name,
        ...(kpi ? (['margin', 'weekOnly'] as const) : (['answered', 'asked'] as const)).map(
          (key) => `${name}, ${t(key)}`,
        ),
      ]),
      t('handedOut'),
    ],
    ...weeks.map(({ week }) => [
      ...weekCells({ week }),
      ...series.flatMap(({ values, rolling }): CsvCell[] => {
        const own = scoreIn(values, week, t);
        if (!kpi) {
          const { answered = null, asked = null } = values.find((one) => one.week === week) ?? {};
          return [own, answered, asked];
        }
        const margin = points(rolling.find((one) => one.week === week)?.margin);
        return [scoreIn(rolling, week, t), margin, own];
      }),
      handedOutCell(
        series.map(({ group, values, rolling }) => ({
          name: group.name,
          handedOut: figureIn(values, week)?.handedOut || figureIn(rolling, week)?.handedOut,
        })),
      ),
    ]),
  ]);

/** Returns a row for each segment: its response rate and its KPIs. */
export function segmentHeatTable(
  { breakdown, map }: SegmentMap,
  { sort, compare }: Pick<HeatTableFilters, 'sort' | 'compare'>,
  t: Texts,
): string {
  const { kpis } = map;
  return tableOf([
    [breakdown.name, t('rate'), t('answered'), t('asked'), ...kpis.map(({ name }) => name), t('handedOut')],
    ...shownRows(map, { sort }, compare).map((row): CsvCell[] => [
      row.name,
      score(row.rate, t),
      row.answered ?? null,
      row.asked ?? null,
      ...row.values.map((value) => score(value === 'none' ? undefined : value, t)),
      handedOutCell([
        { name: t('rate'), handedOut: row.handedOut.includes('rate') },
        ...kpis.map(({ name }, kpi) => ({ name, handedOut: row.handedOut.includes(kpi) })),
      ]),
    ]),
  ]);
}

/** Returns a row for each week, with a column for each possible answer. */
export function questionTable({ question, figures, comparison }: QuestionResults, t: Texts): string {
  const keys = keysOf(figures);
  const hasEnps = question.type === recommendation;
  const hasScore = isScaled(question.type);
  const hasCount = figures.some(({ notApplicable }) => notApplicable !== null);
  const from = comparison.group?.name ?? t(`comparison.${comparison.kind}`);
  return tableOf([
    [
      t('week'),
      t('monday'),
      t('score'),
      t('answers'),
      ...(hasEnps ? [t('enps')] : []),
      ...(hasScore
        ? [t('margin'), t('change'), t('isClear'), t('difference', { name: from }), t('isClear')]
        : []),
      ...keys.map((key) => answerText(question, key, t)),
      t('handedOut'),
      ...(hasScore ? [t('changeHandedOut'), t('differenceHandedOut')] : []),
      ...(hasCount ? [t('notApplicable'), t('notApplicableOf')] : []),
    ],
    ...figures.map(({ week, value, answers, enps, distribution, handedOut, ...own }): CsvCell[] => [
      ...weekCells({ week }),
      hasScore ? score(value, t) : null,
      answers ?? t('withheld'),
      ...(hasEnps ? [enps === null ? t('withheld') : Math.round(enps)] : []),
      ...(hasScore
        ? [
            points(own.margin),
            points(own.change?.by),
            verdict(own.change, t),
            points(own.difference?.by),
            verdict(own.difference, t),
          ]
        : []),
      ...countsOf(distribution, keys, t),
      handedOut ? t('yes') : null,
      ...(hasScore
        ? [own.change?.handedOut ? t('yes') : null, own.difference?.handedOut ? t('yes') : null]
        : []),
      ...(hasCount ? [own.notApplicable?.count ?? null, own.notApplicable?.of ?? null] : []),
    ]),
  ]);
}

/** Returns the text of an answer. */
function answerText({ type, options, scale }: ResultQuestion, key: string, t: Texts): string {
  const option = options.find(({ id }) => id === key)?.text;
  if (option !== undefined) return option;
  if (type === yesNo) return key === 'yes' ? t('yes') : t('no');
  return scale.find(({ value }) => String(value) === key)?.text ?? key;
}

/** Returns the possible answers: those of the last distribution that is shown. */
const keysOf = (figures: readonly QuestionFigures[]): string[] =>
  figures.findLast(({ distribution }) => distribution !== null)?.distribution?.map(({ key }) => key) ?? [];

const countsOf = (distribution: QuestionFigures['distribution'], keys: string[], t: Texts): CsvCell[] =>
  keys.map((key) =>
    distribution ? (distribution.find((one) => one.key === key)?.count ?? 0) : t('withheld'),
  );

/** Returns a row for each segment, with a column for each possible answer to yes/no and choice questions. */
export function segmentAnswersTable({ breakdown, question, week, rows }: SegmentAnswers, t: Texts): string {
  const keys = keysOf(rows.map(({ figures }) => figures));
  const hasScore = isScaled(question.type);
  return tableOf([
    [
      t('week'),
      t('monday'),
      breakdown.name,
      ...(hasScore ? [t('score'), t('margin')] : []),
      t('answers'),
      ...keys.map((key) => answerText(question, key, t)),
      t('handedOut'),
    ],
    ...rows.map(({ name, figures: { value, margin, answers, distribution, handedOut } }): CsvCell[] => [
      ...(week ? weekCells(week) : []),
      name,
      ...(hasScore ? [score(value, t), points(margin)] : []),
      answers ?? t('withheld'),
      ...countsOf(distribution, keys, t),
      handedOut ? t('yes') : null,
    ]),
  ]);
}

export type ExportedComments = {
  /** The names of the group and of the groups above it, from the top. */
  group: string[];
  /**
   * `comments`: how many comments are shown for the question and week; `answers`: how many people answered the question; null if
   * withheld.
   */
  rows: (ResultComment & { comments: number | null; answers: number | null })[];
};

/** Returns a row for each comment. */
export const commentTable = ({ group, rows }: ExportedComments, t: Texts): string =>
  tableOf([
    [
      t('week'),
      t('monday'),
      t('group'),
      t('question'),
      t('comment'),
      t('commentsHere'),
      t('answersHere'),
      t('handedOut'),
    ],
    ...rows.map((row): CsvCell[] => [
      ...weekCells(row),
      group.join(' / '),
      row.question,
      row.text,
      row.comments,
      row.answers ?? t('withheld'),
      row.handedOut ? t('yes') : null,
    ]),
  ]);
