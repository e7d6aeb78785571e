// How people feel: what the answers of simulated weeks are made of. Each person and each group leans to one side, for all
// weeks, and the seasons move everybody. Pure: the same seed gives the same moods.
import type { Week } from '@soundings/contract/weeks.ts';
import { type Random, randomFrom } from './random.ts';

/**
 * Someone who is asked. People and groups go by what their own company calls them, never by our ids: so the same people
 * answer the same in another account.
 */
export type Respondent = {
  person: string;
  /** ISO 639-1. */
  language: string;
  /** Each of the person's own groups, with those above it up to the top. */
  groups: string[][];
};

/** What people write, by their language; whoever has none there writes English. */
export type Sentences = { en: string[]; [language: string]: string[] };

/** Where a topic stands on a scale from 1 to 5, and how much the seasons move it. */
export type Topic = { level: number; season: number };

/** What makes a company unlike others. A topic is the id of a KPI, undefined where a question has none. */
export type Character = {
  topics: Record<string, Topic>;
  /** By how much a person feels better, or worse, because of what happens; in steps of a scale from 1 to 5. */
  turn(respondent: Respondent, topic: string | undefined, week: Week): number;
  /** What somebody who feels so (from 1 to 5) might write beside an answer; nearly always nothing. */
  remark(random: Random, about: Remark): Sentences | undefined;
  /** What is written to a question of type 7. */
  inWords(key: string): Sentences;
};

export type Remark = { respondent: Respondent; topic: string | undefined; week: Week; felt: number };

export type Sentiment = {
  /** What a person would answer to a question: on a scale from 1 to 5, unrounded, and a little beyond its ends. */
  about(respondent: Respondent, question: { key: string; topic: string | undefined }, week: Week): number;
  /** How likely a person is to answer in a week, from 0 to 1; about `rate` of all do. */
  toAnswer(respondent: Respondent, week: Week, rate: number): number;
};

export function sentimentsOf(seed: number, { topics, turn }: Character): Sentiment {
  const leans = new Map<string, number>();
  const lean = (name: string, deviation: number) => {
    const known = leans.get(name);
    if (known !== undefined) return known;
    const made = randomFrom(seed, name).around0(deviation);
    leans.set(name, made);
    return made;
  };
  const topicOf = (name: string): Topic =>
    topics[name] ?? { level: 3.7 + lean(`topic ${name}`, 0.15), season: 0.6 };
  return {
    about(respondent, { key, topic: own }, week) {
      const { person, groups } = respondent;
      const topic = own ?? key;
      const { level, season: share } = topicOf(topic);
      const ofGroups = (groups[0] ?? []).map(
        (group) => lean(`group ${group}`, 0.11) + lean(`group ${group} ${topic}`, 0.1),
      );
      return (
        level +
        share * season(week) +
        ofGroups.reduce((sum, one) => sum + one, 0) +
        lean(`question ${key}`, 0.12) +
        lean(`person ${person}`, 0.5) +
        lean(`person ${person} ${topic}`, 0.35) +
        turn(respondent, own, week)
      );
    },
    toAnswer(respondent, week, rate) {
      const { person, groups } = respondent;
      const own =
        lean(`willing group ${groups[0]?.[0]}`, 0.07) +
        lean(`willing person ${person}`, 0.13) +
        lean(`willing week ${week}`, 0.015) +
        0.06 * turn(respondent, undefined, week) -
        (isHoliday(week) ? 0.06 : 0);
      // Near nobody, and near all, there is little room for differences.
      const room = Math.min(1, Math.min(rate, 1 - rate) / 0.18);
      return Math.max(0, Math.min(1, rate + room * own));
    },
  };
}

/** Better in summer; a dip around the 20th of November. In steps of a scale from 1 to 5. */
export function season(week: Week): number {
  const day = (Date.parse(week) - Date.parse(`${week.slice(0, 4)}-01-01`)) / 86_400_000 + 3;
  return 0.2 * Math.cos((2 * Math.PI * (day - 195)) / 365) - 0.25 * Math.exp(-(((day - 323) / 22) ** 2));
}

/** Holidays: the weeks of July and early August, and of the turn of the year. */
const isHoliday = (week: Week): boolean =>
  (week.slice(5) >= '07-01' && week.slice(5) <= '08-07') ||
  week.slice(5) >= '12-21' ||
  week.slice(5) <= '01-02';
