// For browser tests of segments: gives the demo company two breakdowns, whose figures are close to those of the whole company.
import {
  agreementScale,
  freeText,
  isDistributionOnly,
  type QuestionType,
  tenStepScale,
} from '@soundings/contract/question-types.ts';
import { type GivenSegment, writeSegments } from '../../results/data/segments.fixture.ts';
import type { DemoWorld } from '../../testing/browser/demo-world.ts';

type Figure = {
  week: string;
  questionId: number;
  value: number | null;
  distribution: string | null;
  type: QuestionType;
};

/**
 * Writes the breakdowns Site and Age band, with figures of all closed weeks. In Site, one segment is withheld and one is marked.
 * Returns the ids of Site and of a scale question of the last closed week.
 */
export async function openDemoSegments({
  pool,
  accountId,
}: DemoWorld): Promise<{ question: string; site: string }> {
  const [top] = await pool<{ id: number }[]>`
    select r.group_id as "id" from results r join groups g using (account_id, group_id)
    where  r.account_id = ${accountId} and g.parent_id is null
    group  by 1 order by count(*) desc limit 1`;
  const groupId = top!.id;
  const figures = await pool<Figure[]>`
    select r.week::text as "week", r.question_id as "questionId", r.value as "value",
           r.distribution as "distribution", q.type as "type"
    from   results r
    join   questions q using (account_id, question_id)
    join   weeks w using (account_id, week)
    where  r.account_id = ${accountId} and r.group_id = ${groupId} and w.closed_at is not null and q.type <> ${freeText}`;
  const kpis = await pool<{ kpiId: string; week: string; value: number | null }[]>`
    select kpi_id as "kpiId", week::text as "week", value as "value"
    from   kpi_values where account_id = ${accountId} and group_id = ${groupId}`;
  const weeks = [...new Set(figures.map(({ week }) => week))];
  const segment = (by: number, people: number, handedOut = false): GivenSegment => ({
    results: figures.map(({ week, questionId, value, distribution, type }) => ({
      questionId,
      week,
      value: value === null ? null : Math.min(1, Math.max(0, value + by)),
      answers: Math.round(people * 0.8),
      handedOut,
      ...(isDistributionOnly(type) &&
        distribution !== null && { distribution: JSON.parse(distribution) as Record<string, number> }),
    })),
    rates: weeks.map((week) => ({
      week,
      value: 0.8,
      asked: people,
      answered: Math.round(people * 0.8),
      handedOut,
    })),
    kpis: kpis.map((kpi) => ({ ...kpi, value: kpi.value === null ? null : kpi.value + by })),
  });
  const withheld = (): GivenSegment => ({
    results: figures.map(({ week, questionId }) => ({ questionId, week, value: null, answers: null })),
    rates: weeks.map((week) => ({ week, value: null })),
    kpis: kpis.map((kpi) => ({ ...kpi, value: null })),
  });
  const { breakdownId } = await writeSegments(
    pool,
    accountId,
    { name: 'Site', attribute: 'site' },
    {
      Stockholm: segment(0.04, 96),
      Lund: segment(-0.03, 41),
      Copenhagen: segment(-0.08, 19, true),
      Remote: withheld(),
    },
  );
  await writeSegments(
    pool,
    accountId,
    { name: 'Age band', attribute: 'born' },
    {
      'under 30': segment(-0.05, 30),
      '30–39': segment(0.01, 44),
      '40–49': segment(0.02, 37),
      '50 and over': segment(0.06, 28),
    },
  );
  const last = weeks.toSorted().at(-1);
  const scale = figures.find(
    ({ week, type, value }) =>
      week === last && (type === agreementScale || type === tenStepScale) && value !== null,
  );
  return { question: String(scale?.questionId), site: String(breakdownId) };
}
