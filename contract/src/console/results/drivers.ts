// The console: key drivers, which KPIs go along with an outcome over the published figures of groups. docs/administrators/drivers.md
// explains them.
import { Type } from 'typebox';
import { operation } from '../operation.ts';
import type { ResultGroup, ResultKpi, ResultWeek } from './results.ts';

/** What drivers can be shown for: a KPI, or a recommendation question (eNPS). `id` is the value of the `outcome` parameter. */
export type DriverOutcome = { id: string; kind: 'kpi' | 'question'; name: string };

/** `weight`: the share of the outcome's differences between groups that goes along with the KPI, 0 to 1, with its 95% interval. */
export type KpiDriver = ResultKpi & {
  weight: number;
  low: number;
  high: number;
  /** The correlation with the outcome, -1 to 1. Negative: groups with a high KPI have a low outcome. */
  correlation: number;
  /** Whether its weight is larger than chance alone would explain. */
  isClear: boolean;
};

/**
 * Why a KPI is left out: it has no question that the outcome does not have; it has figures in too few of the groups; there would be
 * too few groups for all KPIs; or it has the same value everywhere.
 */
export type LeftOutKpi = ResultKpi & { reason: 'sameQuestions' | 'fewFigures' | 'fewGroups' | 'constant' };

export type Drivers = {
  /** The outcomes that can be chosen. Empty: no figures are shown. */
  outcomes: DriverOutcome[];
  /** The chosen outcome; null: there are no outcomes. */
  outcome: DriverOutcome | null;
  /** `few`: too few groups; `noKpis`: no KPI to compare with; `same`: all groups have the same outcome. */
  state: 'computed' | 'few' | 'noKpis' | 'same';
  /** How many groups are compared, and the minimum number. */
  groups: number;
  minimumGroups: number;
  /** The top group, if only groups of its tree are compared and the caller can see it. */
  tree: ResultGroup | null;
  /** The weeks that the figures come from, oldest first. */
  weeks: ResultWeek[];
  /** The share of the outcome's differences that goes along with all KPIs together, 0 to 1; null unless computed. */
  explained: number | null;
  /** Largest weight first. */
  drivers: KpiDriver[];
  leftOut: LeftOutKpi[];
  /** Whether some of the figures are partly based on links or cards that the employer handed out (P14). */
  handedOut: boolean;
};

const driversQuery = Type.Object(
  {
    outcome: Type.Optional(
      Type.String({
        pattern: '^(kpi:.{1,500}|question:[1-9]\\d{0,9})$',
        description: 'kpi: or question: followed by an ID. Default: the first outcome.',
      }),
    ),
    weeks: Type.Optional(
      Type.Enum(['13', '26', '52'], { description: 'How many weeks: 13, 26 or 52. Default: 13.' }),
    ),
    language: Type.Optional(Type.Enum(['en', 'sv'], { description: 'en or sv.' })),
  },
  { additionalProperties: false },
);

export const driversOperations = {
  /** Returns the key drivers of an outcome over the groups that the manager can see. */
  'GET /results/drivers': operation<Drivers>()({ minimumRole: 'Manager', query: driversQuery }),
  'GET /results/drivers/csv': operation()({ minimumRole: 'Manager', query: driversQuery }),
};
