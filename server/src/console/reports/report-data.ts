// The data of a report, before they are turned into texts.
import type {
  ChosenComparison,
  Difference,
  Finding,
  RateFigure,
  ResultComment,
  ResultGroup,
  ResultKpi,
  RollingFigure,
} from '@soundings/contract/console/results/results.ts';
import type { FocusTerms } from '@soundings/contract/console/focus.ts';
import type { Period } from '@soundings/contract/periods.ts';
import type { Week } from '@soundings/contract/weeks.ts';

/** A KPI in the last week of the period that has a value. */
export type ReportKpi = ResultKpi & { rolling: RollingFigure; difference: Difference | null };

/** What the group works on: a KPI or question by its name, and the terms. */
export type ReportFocus = FocusTerms & { name: string; outlook: 'onTrack' | 'needsHelp' | null };

/** The last figure of a question in the period. */
export type ReportQuestion = {
  text: string;
  week: Week;
  value: number;
  answers: number | null;
  margin: number | null;
  difference: Difference | null;
  handedOut: boolean;
  /** How many people chose "not applicable", and of how many who answered; null: withheld, or no one could. */
  notApplicable: { count: number; of: number } | null;
};

export type ReportData = {
  company: string;
  group: ResultGroup;
  /** The groups above it that the reader may see, from the top. */
  path: ResultGroup[];
  period: Period;
  /** The last week of the period with results; null: there is none. */
  week: Week | null;
  /** Whether that week is still open. */
  isLive: boolean;
  comparison: ChosenComparison;
  findings: Finding[];
  kpis: ReportKpi[];
  rates: RateFigure[];
  /** The open focuses of the group now, whatever the period. */
  focus: ReportFocus[];
  /** All questions with a mean that is shown, in any order. */
  questions: ReportQuestion[];
  /** The newest comments, and how many comments there are in the period. */
  comments: { total: number; newest: ResultComment[] };
  /** The smallest thresholds of the period's weeks; null: nothing was asked. */
  thresholds: { figures: number; comments: number } | null;
  /** The day on which the report is created, YYYY-MM-DD. */
  day: string;
};

/** Whether there is anything to show. */
export const hasResults = ({ kpis, rates, questions, comments }: ReportData): boolean =>
  kpis.some(({ rolling }) => rolling.value !== null) ||
  rates.some(({ value }) => value !== null) ||
  questions.length > 0 ||
  comments.total > 0;
