import { expect, test } from 'vitest';
import { fontMetrics } from './fonts.ts';
import type { ReportData } from './report-data.ts';
import { layoutReport } from './report-layout.ts';
import { type Element, type TextLine, type Page, pageHeight, pageWidth } from './report-sheet.ts';
import { reportTextOf } from './report-text.ts';
import { anyKpi, anyQuestion, anyReport } from './reports.fixture.ts';

const page = (data: ReportData, language = 'en') =>
  layoutReport(reportTextOf(data, language), fontMetrics, {
    otherScript: 'other script',
    leftOut: (shown) => (data.comments.total > shown ? `${data.comments.total - shown} left out` : ''),
  });
const linesIn = (elements: readonly Element[]): TextLine[] =>
  elements.flatMap(({ lines, children }) => [...lines, ...linesIn(children)]);
const textOf = ({ elements }: Page) =>
  linesIn(elements)
    .map(({ text }) => text)
    .join(' ');

const long = 'Ett mycket långt namn som fortsätter och fortsätter, '.repeat(6).trim();
const comment = (text: string) => ({ ...anyReport().comments.newest[0]!, text });
/** A report with as much content as a report can have. */
const full = anyReport({
  focus: [0, 1].map(() => ({
    name: long,
    action: long,
    responsible: long,
    until: '2026-11-30',
    outlook: 'needsHelp',
  })),
  company: long,
  group: { id: 1, name: long },
  path: Array.from({ length: 8 }, (_, id) => ({ id, name: long })),
  comparison: { kind: 'company', group: { id: 1, name: long }, available: [] },
  findings: Array.from({ length: 3 }, (_, id) => ({
    kind: 'question' as const,
    question: { id, text: long },
    week: '2026-09-14',
    change: { by: 0.1, since: '2025-09-15', questions: 1, verdict: 'up' as const, handedOut: false },
  })),
  kpis: Array.from({ length: 40 }, (_, i) => anyKpi(i, { name: `${i} ${long}` })),
  questions: Array.from({ length: 40 }, (_, i) => ({
    ...anyQuestion(i),
    text: `${i} ${long}`,
    handedOut: true,
    notApplicable: { count: 1100, of: 12_000 },
  })),
  comments: { total: 900, newest: Array.from({ length: 15 }, () => comment(long)) },
});

const empty = anyReport({
  findings: [],
  kpis: [],
  rates: [],
  questions: [],
  path: [],
  comments: { total: 0, newest: [] },
  thresholds: null,
});

test.each([
  ['usual', anyReport()],
  ['full', full],
  ['empty', empty],
])('everything of a report is on the page, and no texts overlap: %s', (_, data) => {
  for (const language of ['en', 'sv']) {
    const { elements, shapes } = page(data, language);
    const lines = linesIn(elements);
    const boxes = lines.map(({ text, x, y, size, weight, align }) => {
      const width = fontMetrics.widthOf(text, weight) * size;
      const start = align === 'right' ? x - width : x;
      return { text, start, end: start + width, top: y - size * 0.72, bottom: y + size * 0.2 };
    });
    for (const { text, start, end, top, bottom } of boxes) {
      expect([text, start >= 40, end <= pageWidth - 40, top >= 30, bottom <= pageHeight - 30]).toEqual([
        text,
        true,
        true,
        true,
        true,
      ]);
    }
    const overlaps = boxes.flatMap((one, i) =>
      boxes
        .slice(i + 1)
        .filter(
          (other) =>
            one.start < other.end &&
            other.start < one.end &&
            one.top < other.bottom &&
            other.top < one.bottom,
        )
        .map((other) => [one.text, other.text]),
    );
    expect(overlaps).toEqual([]);
    for (const shape of shapes) expect(shape.y > 0 && shape.y < pageHeight).toBe(true);
  }
});

test('comments fill the space that is left, and the page says how many are left out', () => {
  const comments = { total: 30, newest: Array.from({ length: 15 }, (_, i) => comment(`Comment ${i}.`)) };
  const some = page(anyReport({ comments }));
  expect(some.shown).toBeGreaterThan(3);
  expect(textOf(some)).toContain(`Comment ${some.shown - 1}.`);
  expect(textOf(some)).not.toContain(`Comment ${some.shown}.`);
  expect(textOf(some)).toContain(`${30 - some.shown} left out`);
  expect(page(full).shown).toBeLessThan(some.shown);
  expect(textOf(page(full))).toContain(`${900 - page(full).shown} left out`);
  const few = page(anyReport({ comments: { total: 1, newest: [comment('Only this.')] } }));
  expect(textOf(few)).toContain('Only this.');
  expect(textOf(few)).not.toContain('left out');
});

test('a comment that the fonts can’t show is replaced with a note', () => {
  const comments = { total: 2, newest: [comment('谢谢大家'), comment('Tack 🎉')] };
  const text = textOf(page(anyReport({ comments })));
  expect(text).toContain('other script');
  expect(text).toContain('Tack □');
  expect(text).not.toContain('谢');
});

test('the weeks of a KPI and of a comment are never cut off', () => {
  const rolling = { ...anyKpi(0).rolling, questions: 12, firstWeek: '2026-08-10', lastWeek: '2026-09-14' };
  const other = { ...rolling, firstWeek: '2025-12-22', lastWeek: '2025-12-22' };
  const data = anyReport({
    kpis: [anyKpi(0, { rolling }), anyKpi(1, { rolling: other })],
    comments: { total: 1, newest: [{ ...comment('Words.'), question: long, handedOut: true }] },
  });
  const texts = (language: string) => linesIn(page(data, language).elements).map(({ text }) => text);
  expect(texts('en')).toEqual(
    expect.arrayContaining([
      '12 questions, W33–38',
      '12 questions, week 52, 2025',
      expect.stringMatching(/^Ett mycket .*… · week 38 \*$/),
    ]),
  );
  expect(texts('sv')).toEqual(
    expect.arrayContaining(['12 frågor, v. 33–38', expect.stringMatching(/… · vecka 38 \*$/)]),
  );
});

test('a clear change has an arrow in its direction, and other changes have none', () => {
  const arrows = (verdict: 'up' | 'down' | 'unclear') => {
    const change = { by: 0.1, since: '2026-08-10', questions: 1, verdict, handedOut: false };
    const kpis = [anyKpi(0, { rolling: { ...anyKpi(0).rolling, change }, difference: null })];
    return page(anyReport({ kpis, questions: [] })).shapes.flatMap((one) =>
      one.kind === 'triangle' ? [one.up] : [],
    );
  };
  expect([arrows('up'), arrows('down'), arrows('unclear')]).toEqual([[true], [false], []]);
});
