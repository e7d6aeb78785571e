// The console: reports, one A4 page about a group and a week or quarter. A report contains its texts, in the requested language, so
// that the page and the PDF say the same. Its figures are those of the results pages.
import { Type } from 'typebox';
import { comparisons } from '../comparisons.ts';
import { operation } from './operation.ts';
import type { ChosenComparison, Verdict } from './results/results.ts';

/** A change or difference as text, such as "+4". Only clear ones are shown with an arrow and a colour. */
export type ReportMark = { text: string; verdict: Verdict };

/** A row about a KPI or question. */
export type ReportRow = {
  name: string;
  /** What the figure is based on; empty: not known. */
  note: string;
  /**
   * The score from 0 to 100, or the word for a withheld figure. An asterisk marks a figure that is partly based on links or cards
   * that the employer handed out (P14).
   */
  value: string;
  /** For the chart: the score and half the width of its interval, 0 to 100; null: withheld, or not known. */
  score: number | null;
  margin: number | null;
  /** Null: nothing to compare. */
  change: ReportMark | null;
  /** The comparison's own score, and the difference; null: nothing to compare. */
  compared: number | null;
  difference: ReportMark | null;
};

export type ReportSection<Item> = { title: string; note: string; items: Item[] };

/** `week`: the week's name, with an asterisk if the group's comments on the question partly come from handed-out links. */
export type ReportComment = { text: string; question: string; week: string };

export type PrintedReport = {
  /** ISO 639-1. */
  language: string;
  company: string;
  group: { id: number; name: string };
  /** The groups above the group that the caller can see, from the top; empty if there are none. */
  about: string;
  /** `name`: the period as addresses have it, such as 2026-W38 or 2026-Q3; `title`: as readers see it. */
  period: { name: string; title: string; dates: string };
  comparison: ChosenComparison;
  /** Null: not known, or withheld. `share`: 0 to 1. */
  response: { title: string; rate: string; text: string; share: number } | null;
  /** Sentences; at least one. */
  findings: ReportSection<string>;
  /** `heads`: the column headings. `compared` and `difference` are empty without a comparison. */
  kpis: ReportSection<ReportRow> & {
    heads: { name: string; score: string; change: string; compared: string; difference: string };
  };
  /** What the group works on, as sentences; empty: nothing. */
  focus: ReportSection<string>;
  strongest: ReportSection<ReportRow>;
  weakest: ReportSection<ReportRow>;
  /** The newest comments, as many as the page has room for. `note`: how many comments were left out. */
  comments: ReportSection<ReportComment>;
  /** How anonymity is kept. */
  anonymity: { title: string; text: string };
  /** What the marks on this page mean. */
  legend: string;
  /** When the report was created. */
  created: string;
};

const closed = { additionalProperties: false };
const reportQuery = Type.Object(
  {
    period: Type.Optional(
      Type.String({
        pattern: '^\\d{4}-(W\\d{2}|Q[1-4])$',
        description:
          'A week such as 2026-W38, or a quarter such as 2026-Q3. Default: the last week with results.',
      }),
    ),
    compare: Type.Optional(
      Type.Enum([...comparisons], {
        description: 'What to compare with: company, parent, halfYear or none.',
      }),
    ),
    language: Type.Optional(Type.Enum(['en', 'sv'], { description: 'en or sv.' })),
  },
  closed,
);

export const reportsOperations = {
  'GET /results/groups/{groupId}/report': operation<PrintedReport>()({
    minimumRole: 'Manager',
    query: reportQuery,
  }),
  /** Returns the report as PDF. */
  'GET /results/groups/{groupId}/report.pdf': operation()({ minimumRole: 'Manager', query: reportQuery }),
  /** Returns a ZIP file with a PDF for each group that the caller can see and that has results in the period. */
  'GET /results/reports.zip': operation()({ minimumRole: 'Manager', query: reportQuery }),
};
