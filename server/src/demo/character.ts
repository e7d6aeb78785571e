// How the people of the demo company feel and what they write, depending on the events of half a year. Pure.
import type { Week } from '@soundings/contract/weeks.ts';
import type { Character, Respondent } from '../simulation/sentiment.ts';
import { comments, openAnswers, storyComments, type Topic } from './comments.ts';
import { type DemoPerson, splitWeek, weekCount } from './staff.ts';

/** The level of each KPI, how much the seasons change it, and how far it moves in half a year. */
const topics: Record<Topic, { level: number; season: number; drift: number }> = {
  workload: { level: 3.6, season: 1.3, drift: -0.05 },
  clarity: { level: 3.7, season: 0.6, drift: 0.1 },
  autonomy: { level: 3.5, season: 0.5, drift: 0.1 },
  leadership: { level: 3.75, season: 0.4, drift: 0.3 },
  development: { level: 3.5, season: 0.4, drift: 0.15 },
  community: { level: 4, season: 0.6, drift: 0 },
  fairness: { level: 3.45, season: 0.4, drift: 0.1 },
  engagement: { level: 3.9, season: 0.6, drift: 0.05 },
};

/** The values of a line at some weeks. In between the line is linear; before the first and after the last week it is constant. */
type Line = Record<number, number>;

function heightOf(line: Line, week: number): number {
  const points = Object.entries(line).map(([at, height]) => [Number(at), height] as const);
  const [fromWeek, from] = points.findLast(([at]) => at <= week) ?? points[0] ?? [week, 0];
  const [toWeek, to] = points.find(([at]) => at > fromWeek && fromWeek <= week) ?? [fromWeek + 1, from];
  return from + ((to - from) * Math.max(0, week - fromWeek)) / (toWeek - fromWeek);
}

/** How a system that does not work affects the people who have to use it, until the system is fixed. */
const newSystem: Line = { 6: 0, 11: -1.05, 13: -1.05, 20: 0.15 };

/** The effect of a split on a department. */
const split: Line = { 9: 0, 13: -0.5, 15: -0.5, 22: 0.1 };

/** Returns the story that a person experiences in a week, if it is one that people write comments about. */
function storyOf(person: DemoPerson | undefined, group: string, week: number) {
  if (group === 'warehouse-picking' && week >= 8 && week <= 14) return 'newSystem';
  if (group === 'warehouse-picking' && week >= 17) return 'systemFixed';
  if (person?.unit.before && week >= splitWeek && week <= splitWeek + 5) return 'split';
  return undefined;
}

/** Returns the character of the company. `weeks`: the weeks of the history, in which the stories happen. */
export function characterOf(staff: readonly DemoPerson[], weeks: readonly Week[]): Character {
  const personOf = new Map(staff.map((person) => [person.externalId, person]));
  const numberOf = (week: Week) => {
    const number = weeks.indexOf(week);
    return number < 0 ? weekCount : number;
  };
  const groupOf = ({ groups }: Respondent) => groups[0]?.[0] ?? '';
  return {
    topics,
    turn(respondent, topic, week) {
      const number = numberOf(week);
      const drift = topics[topic as Topic]?.drift ?? 0;
      const person = personOf.get(respondent.person);
      return drift * (number / 25 - 0.5) + storySentiment(person, groupOf(respondent), topic, number);
    },
    remark(random, { respondent, topic, week, felt }) {
      const story = storyOf(personOf.get(respondent.person), groupOf(respondent), numberOf(week));
      if (story && (story === 'systemFixed' ? felt > 3.5 : felt < 3.5)) {
        if (random.chance(story === 'newSystem' ? 0.09 : 0.06)) return storyComments[story];
      }
      const said = comments[topic as Topic];
      if (felt < 2.7 && random.chance(0.03)) return said?.bad;
      if (felt > 4.2 && random.chance(0.012)) return said?.good;
      return undefined;
    },
    openAnswer: (key) => openAnswers[key as keyof typeof openAnswers] ?? openAnswers['anything-else'],
  };
}

/** Returns how much better or worse a person feels because of events in their group or in their own life. */
function storySentiment(
  person: DemoPerson | undefined,
  group: string,
  topic: string | undefined,
  week: number,
): number {
  let sentiment = 0;
  if (group === 'warehouse-picking') {
    const fall = heightOf(newSystem, week);
    sentiment += topic === 'community' ? 0.4 * fall : fall;
  }
  if (person?.unit.before) {
    const doubt = heightOf(split, week);
    sentiment += topic === 'clarity' ? 1.3 * doubt : 0.6 * doubt;
  }
  if (group === 'shop-hamburg' && topic === 'leadership') sentiment += week < 15 ? -0.8 : 0.4;
  if (group === 'equipment-tents') sentiment += topic === 'community' ? 0.5 : 0.25;
  if (person && person.begins > 0 && week - person.begins < 6) sentiment += 0.3;
  if (person?.state === 'gone' && person.ends - week <= 6) sentiment -= 0.5;
  return sentiment;
}
