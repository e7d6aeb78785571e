// How the people of the demo company feel: what the answers of its history are made of. Pure.
import { randomFrom } from './random.ts';
import { groupsIn, type Person, splitWeek } from './staff.ts';
import type { Topic } from './texts.ts';
import { units } from './units.ts';

/** Where a topic stands on a scale from 1 to 5, how far it moves in half a year, and how much the seasons move it. */
const topics: Record<Topic, { level: number; drift: number; season: number }> = {
  energy: { level: 3.6, drift: -0.05, season: 1.3 },
  direction: { level: 3.6, drift: 0.1, season: 0.6 },
  leadership: { level: 3.75, drift: 0.3, season: 0.4 },
  team: { level: 4, drift: 0, season: 0.6 },
  growth: { level: 3.5, drift: 0.15, season: 0.4 },
  place: { level: 3.6, drift: 0.2, season: 0.7 },
  pride: { level: 3.95, drift: 0.05, season: 0.6 },
};

/** Better in summer; a dip around the 20th of November. In steps of a scale from 1 to 5, for the week of a Monday. */
export function season(monday: string): number {
  const day = (Date.parse(monday) - Date.parse(`${monday.slice(0, 4)}-01-01`)) / 86_400_000 + 3;
  return 0.2 * Math.cos((2 * Math.PI * (day - 195)) / 365) - 0.25 * Math.exp(-(((day - 323) / 22) ** 2));
}

/** Holidays: the weeks of July and early August, and of the turn of the year. */
export const isHoliday = (monday: string): boolean =>
  (monday.slice(5) >= '07-01' && monday.slice(5) <= '08-07') ||
  monday.slice(5) >= '12-21' ||
  monday.slice(5) <= '01-02';

/** Heights at some weeks; between them a straight line, before the first and after the last level. */
type Line = Record<number, number>;

function heightOf(line: Line, week: number): number {
  const points = Object.entries(line).map(([at, height]) => [Number(at), height] as const);
  const [fromWeek, from] = points.findLast(([at]) => at <= week) ?? points[0] ?? [week, 0];
  const [toWeek, to] = points.find(([at]) => at > fromWeek && fromWeek <= week) ?? [fromWeek + 1, from];
  return from + ((to - from) * Math.max(0, week - fromWeek)) / (toWeek - fromWeek);
}

/** What a system that does not work does to those who have to work with it, until it is mended. */
const newSystem: Line = { 6: 0, 11: -1.05, 13: -1.05, 20: 0.15 };

/** What being split does to a department. */
const split: Line = { 9: 0, 13: -0.5, 15: -0.5, 22: 0.1 };

export type Story = 'newSystem' | 'systemMended' | 'split';

/** What a person lives through in a week, if it is one of the stories that are told in comments. */
export function storyOf(person: Person, week: number): Story | undefined {
  const [group] = groupsIn(person, week);
  if (group === 'warehouse-picking' && week >= 8 && week <= 14) return 'newSystem';
  if (group === 'warehouse-picking' && week >= 17) return 'systemMended';
  if (person.unit.before && week >= splitWeek && week <= splitWeek + 5) return 'split';
  return undefined;
}

/** Higher or lower than others at a time, because of what happens in a group or to a person. */
function storyMood(person: Person, groups: string[], topic: Topic, week: number): number {
  let mood = 0;
  if (groups[0] === 'warehouse-picking') {
    const fall = heightOf(newSystem, week);
    mood += topic === 'team' ? 0.4 * fall : fall;
  }
  if (person.unit.before) {
    const doubt = heightOf(split, week);
    mood += topic === 'direction' ? 1.3 * doubt : 0.6 * doubt;
  }
  if (groups[0] === 'shop-hamburg' && topic === 'leadership') mood += week < 15 ? -0.8 : 0.4;
  if (groups[0] === 'equipment-tents') mood += topic === 'team' ? 0.5 : 0.25;
  if (person.begins > 0 && week - person.begins < 6) mood += 0.3;
  if (person.state === 'gone' && person.ends - week <= 6) mood -= 0.5;
  return mood;
}

export type Mood = {
  /** What a person would answer about a topic: on a scale from 1 to 5, unrounded, and a little beyond its ends. */
  about(person: Person, topic: Topic, week: number, monday: string): number;
  /** How likely a person is to answer in a week, from 0 to 1. */
  toAnswer(person: Person, week: number, monday: string): number;
};

/** The moods of a company: each person and each group leans to one side, for all weeks. */
export function moodsOf(seed: number): Mood {
  const leans = new Map<string, number>();
  const lean = (name: string, deviation: number) => {
    const known = leans.get(name);
    if (known !== undefined) return known;
    const made = randomFrom(seed, name).around0(deviation);
    leans.set(name, made);
    return made;
  };
  const above = new Map(units.map(({ id, parent }) => [id, parent]));
  const ofGroup = (group: string, topic: Topic): number => {
    const parent = above.get(group);
    const own = lean(`group ${group}`, 0.11) + lean(`group ${group} ${topic}`, 0.1);
    return own + (parent ? ofGroup(parent, topic) : 0);
  };
  return {
    about(person, topic, week, monday) {
      const groups = groupsIn(person, week);
      const { level, drift, season: share } = topics[topic];
      return (
        level +
        drift * (week / 25 - 0.5) +
        share * season(monday) +
        ofGroup(groups[0] as string, topic) +
        lean(`person ${person.externalId}`, 0.5) +
        lean(`person ${person.externalId} ${topic}`, 0.35) +
        storyMood(person, groups, topic, week)
      );
    },
    toAnswer(person, week, monday) {
      const groups = groupsIn(person, week);
      const likely =
        0.82 +
        lean(`willing group ${groups[0]}`, 0.07) +
        lean(`willing person ${person.externalId}`, 0.13) +
        lean(`willing week ${week}`, 0.015) +
        0.06 * storyMood(person, groups, 'energy', week) -
        (isHoliday(monday) ? 0.06 : 0);
      return Math.max(0.15, Math.min(0.98, likely));
    },
  };
}
