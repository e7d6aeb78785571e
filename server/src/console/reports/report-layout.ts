// The layout of a report on one A4 page: where each text, line and shape is. Comments fill the space that remains. Pure.
import type {
  PrintedReport,
  ReportMark,
  ReportRow,
  ReportSection,
} from '@soundings/contract/console/reports.ts';
import {
  bottom,
  type Colour,
  type DecorationShape,
  type Element,
  element,
  left,
  type Page,
  pageHeight,
  right,
  rule,
  set,
  setAt,
  type Sheet,
  type Style,
  styles,
  type TextLine,
  top,
  wide,
} from './report-sheet.ts';
import { type Metrics, readableText, replacedText, wrappedLines } from './text-lines.ts';

/**
 * Lays out a report. `report.comments`: the newest of the `total` comments in the period. `leftOut`: returns the note about the
 * comments that are left out.
 */
export function layoutReport(
  report: PrintedReport,
  metrics: Metrics,
  { otherScript, leftOut }: { otherScript: string; leftOut: (shown: number) => string },
): Page {
  const sheet: Sheet = { metrics, shapes: [], y: top };
  const elements = [
    ...headOf(report, sheet),
    ...findingsOf(report, sheet),
    ...kpisOf(report, sheet),
    ...questionsOf(report, sheet),
    ...focusOf(report.focus, sheet),
  ];
  const foot = footOf(report, metrics);
  const comments = commentsOf(report.comments, sheet, {
    end: pageHeight - bottom - foot.height - 14,
    otherScript,
    leftOut,
  });
  const footSheet: Sheet = { metrics, shapes: [], y: pageHeight - bottom - foot.height };
  const anonymity = foot.draw(footSheet);
  return {
    elements: [...elements, ...comments.elements, ...anonymity],
    shapes: [...sheet.shapes, ...footSheet.shapes],
    shown: comments.shown,
  };
}

function headOf({ company, group, about, period }: PrintedReport, sheet: Sheet): Element[] {
  const half = { x: right, width: 190, align: 'right' as const };
  const aside = { ...sheet, y: top };
  const periodLines = [
    ...set(period.title, styles.period, aside, half),
    ...set(period.dates, styles.note, aside, { ...half, most: 2 }),
  ];
  const width = wide - 200;
  const companyLine = set(company, styles.note, sheet, { width });
  const title = set(group.name, styles.title, sheet, { width, most: 2 });
  const aboutLines = about === '' ? [] : set(about, styles.note, sheet, { width: wide, most: 2 });
  sheet.y += 10;
  rule(sheet);
  sheet.y += 12;
  return [
    element('P', companyLine),
    element('H1', title),
    ...(about === '' ? [] : [element('P', aboutLines)]),
    element('P', periodLines),
  ];
}

const band = { gap: 24, side: 150 };

/** The findings on the left, the response on the right. Without findings, their space stays empty. */
function findingsOf({ findings, response }: PrintedReport, sheet: Sheet): Element[] {
  const aside = { ...sheet };
  const width = response === null ? wide : wide - band.side - band.gap;
  const shown = findings.items.length === 0 ? [] : listOf(findings, { style: styles.finding, width }, sheet);
  const side = response === null ? [] : responseOf(response, aside);
  sheet.y = Math.max(sheet.y, aside.y) + 12;
  return [...shown, ...side];
}

function listOf(
  { title, items }: PrintedReport['findings'],
  shape: { style: Style; width: number },
  sheet: Sheet,
): Element[] {
  const head = element('H2', set(title, styles.heading, sheet));
  sheet.y += 2;
  return [head, element('L', [], bulletsOf(items, shape, sheet))];
}

/** Sets sentences as a list with points. */
const bulletsOf = (
  texts: readonly string[],
  { style, width }: { style: Style; width: number },
  sheet: Sheet,
): Element[] =>
  texts.map((text) => {
    sheet.shapes.push({
      kind: 'box',
      x: left,
      y: sheet.y + 5,
      width: 4,
      height: 4,
      radius: 2,
      colour: 'accent',
    });
    const lines = set(text, style, sheet, { x: left + 12, width: width - 12, most: 2 });
    sheet.y += 2.5;
    return element('LI', [], [element('LBody', lines)]);
  });

/** What the group works on. Without anything, it takes no space. */
function focusOf({ title, items }: PrintedReport['focus'], sheet: Sheet): Element[] {
  if (items.length === 0) return [];
  const head = element('H2', set(title, styles.heading, sheet));
  const list = bulletsOf(items, { style: styles.body, width: wide }, sheet);
  sheet.y += 8;
  return [head, element('L', [], list)];
}

function responseOf(response: NonNullable<PrintedReport['response']>, sheet: Sheet): Element[] {
  const [x, width] = [right - band.side, band.side];
  const head = element('H2', set(response.title, styles.heading, sheet, { x, width }));
  const rate = element('P', set(response.rate, styles.rate, sheet, { x, width }));
  sheet.y += 2;
  const bar = { kind: 'box' as const, x, y: sheet.y, height: 4, radius: 2 };
  sheet.shapes.push({ ...bar, width, colour: 'well' });
  sheet.shapes.push({ ...bar, width: Math.max(4, width * Math.min(1, response.share)), colour: 'accent' });
  sheet.y += 7;
  return [head, rate, element('P', set(response.text, styles.note, sheet, { x, width, most: 2 }))];
}

/** The columns of the KPI table: where they begin (names, notes, chart) or end (numbers). */
const columns = {
  name: { x: left, width: 136 },
  note: { x: left + 140, width: 112 },
  chart: { x: left + 254, width: 58 },
  score: { x: left + 364, width: 52 },
  change: { x: left + 410, width: 46 },
  compared: { x: left + 452, width: 40 },
  difference: { x: right, width: 46 },
};
const rowHeight = 17;

function kpisOf({ kpis }: PrintedReport, sheet: Sheet): Element[] {
  if (kpis.items.length === 0) return [];
  const { heads } = kpis;
  const start = sheet.y;
  const title = element('H2', set(kpis.title, styles.heading, sheet));
  const note = setAt(kpis.note, styles.note, sheet, start + 3, { x: right, width: 250, align: 'right' });
  const headY = sheet.y;
  const head = (text: string, at: { x: number; width: number }, align: TextLine['align']): Element => ({
    ...element('TH', text === '' ? [] : setAt(text, styles.note, sheet, headY, { ...at, align })),
    scope: 'Column',
  });
  const headRow = element(
    'TR',
    [],
    [
      head(heads.name, columns.name, 'left'),
      head(heads.score, columns.score, 'right'),
      head(heads.change, columns.change, 'right'),
      head(heads.compared, columns.compared, 'right'),
      head(heads.difference, columns.difference, 'right'),
    ],
  );
  sheet.y += 13;
  const rows = kpis.items.map((row) => kpiRow(row, sheet));
  rule(sheet);
  sheet.y += 13;
  return [title, element('P', note), element('Table', [], [headRow, ...rows])];
}

function kpiRow(row: ReportRow, sheet: Sheet): Element {
  rule(sheet);
  const y = sheet.y + 2;
  const cell = (text: string, style: Style, at: { x: number; width: number }, align: TextLine['align']) =>
    text === '' ? [] : setAt(text, style, sheet, y, { ...at, align });
  const name = element('TH', [
    ...cell(row.name, styles.strong, columns.name, 'left'),
    ...setAt(row.note, styles.note, sheet, y + 1.5, columns.note),
  ]);
  const isShown = row.score !== null;
  chart(row, sheet);
  const score = cell(row.value, isShown ? styles.strong : styles.note, columns.score, 'right');
  const compared = row.compared === null ? '' : String(Math.round(row.compared));
  const cells = [
    element('TD', score),
    element('TD', mark(row.change, sheet, y, columns.change.x)),
    element('TD', cell(compared, styles.body, columns.compared, 'right')),
    element('TD', mark(row.difference, sheet, y, columns.difference.x)),
  ];
  sheet.y += rowHeight;
  return element('TR', [], [{ ...name, scope: 'Row' }, ...cells]);
}

/** Draws the score as a point on a line from 0 to 100, with its interval, and a tick for the comparison. */
function chart({ score, margin, compared }: ReportRow, { shapes, y }: Sheet): void {
  const { x, width } = columns.chart;
  const middle = y + rowHeight / 2;
  const at = (value: number) => x + (width * Math.min(100, Math.max(0, value))) / 100;
  const box = (from: number, to: number, height: number, colour: Colour) =>
    shapes.push({
      kind: 'box',
      x: from,
      y: middle - height / 2,
      width: to - from,
      height,
      radius: Math.min(height, to - from) / 2,
      colour,
    });
  box(x, x + width, 2, 'well');
  if (score === null) return;
  if (margin !== null) box(at(score - margin), at(score + margin), 8, 'wash');
  if (compared !== null) box(at(compared) - 0.6, at(compared) + 0.6, 10, 'soft');
  box(at(score) - 3, at(score) + 3, 6, 'accent');
}

/** Sets a change or difference that ends at `x`, with an arrow if it is clear. */
function mark(change: ReportMark | null, sheet: Sheet, y: number, x: number): TextLine[] {
  if (change === null) return [];
  const { text, verdict } = change;
  if (verdict === 'unclear')
    return setAt(text, styles.note, sheet, y + 1.2, { x, width: 60, align: 'right' });
  const lines = setAt(text, styles[verdict], sheet, y, { x, width: 60, align: 'right' });
  const width = sheet.metrics.widthOf(text, 'semibold') * styles.up.size;
  const triangle = { kind: 'triangle' as const, x: x - width - 10, y: y + 3.8, up: verdict === 'up' };
  sheet.shapes.push({ ...triangle, colour: verdict });
  return lines;
}

/** The strongest questions on the left, the weakest on the right. */
function questionsOf({ strongest, weakest }: PrintedReport, sheet: Sheet): Element[] {
  const width = (wide - band.gap) / 2;
  const aside = { ...sheet };
  const elements = [
    ...questionList(strongest, sheet, { x: left, width }),
    ...questionList(weakest, aside, { x: right - width, width }),
  ];
  sheet.y = Math.max(sheet.y, aside.y);
  if (elements.length > 0) sheet.y += 8;
  return elements;
}

/** The space for a score next to the text of a question. */
const scoreWidth = 62;

function questionList(
  { title, note: about, items }: ReportSection<ReportRow>,
  sheet: Sheet,
  { x, width }: { x: number; width: number },
): Element[] {
  if (items.length === 0) return [];
  const ends = { x: x + width, align: 'right' as const };
  const rest = width - sheet.metrics.widthOf(title, 'semibold') * styles.heading.size - 10;
  const aboutLines =
    about === '' ? [] : setAt(about, styles.note, sheet, sheet.y + 3, { ...ends, width: rest });
  const head = element('H2', set(title, styles.heading, sheet, { x, width }));
  const rows = items.map((row) => {
    sheet.y += 2;
    rule(sheet, x, width);
    sheet.y += 3;
    const { y } = sheet;
    const text = set(row.name, styles.body, sheet, { x, width: width - scoreWidth - 8, most: 2 });
    const note = set(row.note, styles.note, sheet, { x, width: width - scoreWidth - 8, most: 2 });
    const score = setAt(row.value, styles.strong, sheet, y, { ...ends, width: scoreWidth });
    const isClear = row.difference !== null && row.difference.verdict !== 'unclear';
    const compared = isClear ? mark(row.difference, sheet, y + styles.strong.leading, x + width) : [];
    return element('LI', [], [element('LBody', [...text, ...score, ...compared, ...note])]);
  });
  return [head, ...(about === '' ? [] : [element('P', aboutLines)]), element('L', [], rows)];
}

/** The maximum number of lines of a comment. The rest of a longer comment can be read in the console. */
const commentLines = 6;

function commentsOf(
  comments: PrintedReport['comments'],
  sheet: Sheet,
  { end, otherScript, leftOut }: { end: number; otherScript: string; leftOut: (shown: number) => string },
): { elements: Element[]; shown: number } {
  const { metrics } = sheet;
  const start = sheet.y;
  const width = (wide - band.gap) / 2;
  const columnAt = (x: number) => ({ x, y: start + styles.heading.leading + 3 });
  const lists = [columnAt(left), columnAt(right - width)] as const;
  const items: Element[] = [];
  for (const { text, question, week } of comments.items) {
    const list = lists[0].y <= lists[1].y ? lists[0] : lists[1];
    const own = { ...sheet, y: list.y, shapes: [] as DecorationShape[] };
    const space = { x: list.x + 9, width: width - 9 };
    const shownText = readableText(text, metrics);
    const style = shownText === undefined ? styles.note : styles.body;
    const lines = [
      ...set(shownText ?? otherScript, style, own, { ...space, most: commentLines }),
      ...set(sourceOf(question, week, space.width, metrics), styles.note, own, space),
    ];
    if (own.y > end) break;
    const bar = { x: list.x, y: list.y + 2, width: 2, height: own.y - list.y - 3 };
    sheet.shapes.push({ kind: 'box', ...bar, radius: 1, colour: 'line' });
    items.push(element('LI', [], [element('LBody', lines)]));
    list.y = own.y + 6;
  }
  const note = leftOut(items.length);
  if (items.length === 0 && (note === '' || start + styles.heading.leading > end))
    return { elements: [], shown: 0 };
  const head = element('H2', setAt(comments.title, styles.heading, sheet, start, {}));
  const noteLines =
    note === '' ? [] : setAt(note, styles.note, sheet, start + 3, { x: right, width: 250, align: 'right' });
  sheet.y = Math.max(...lists.map(({ y }) => y));
  return {
    elements: [head, ...(note === '' ? [] : [element('P', noteLines)]), element('L', [], items)],
    shown: items.length,
  };
}

/** Returns "My question · week 38" on one line. If it is too long, the question is shortened. */
function sourceOf(question: string, week: string, width: number, metrics: Metrics): string {
  const { size, weight } = styles.note;
  const end = ` · ${week}`;
  const rest = width - metrics.widthOf(end, weight) * size;
  const [line = ''] = wrappedLines(
    replacedText(question, metrics),
    { width: rest, size, weight, most: 1 },
    metrics,
  );
  return line + end;
}

/** Lays out the foot at the end of the page: how anonymity is kept, what marks mean, and when the report was created. */
function footOf({ anonymity, legend, created }: PrintedReport, metrics: Metrics) {
  const draw = (sheet: Sheet): Element[] => {
    rule(sheet);
    sheet.y += 8;
    const title = element('H2', set(anonymity.title, { ...styles.strong, size: 9 }, sheet));
    const text = element('P', set(anonymity.text, styles.small, sheet, { most: 4 }));
    sheet.y += 3;
    const marks = element('P', set(legend, styles.note, sheet, { most: 4 }));
    return [title, text, marks, element('P', set(created, styles.note, sheet))];
  };
  const measured: Sheet = { metrics, shapes: [], y: 0 };
  draw(measured);
  return { height: measured.y, draw };
}
