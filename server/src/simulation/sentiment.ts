// How people feel, which determines the answers of simulated weeks. Each person and each group leans to one side in all weeks, and
// the seasons affect everyone. Pure: the same seed gives the same sentiments.
import type { Week } from '@soundings/contract/weeks.ts';
import { type Random, randomFrom } from './random.ts';

/**
 * A person who is asked. People and groups are identified by the company's own names, never by our ids, so the same people give the
 * same answers in another account.
 */
export type Respondent = {
  person: string;
  /** ISO 639-1. */
  language: string;
  /** Each group that the person is a member of, followed by its ancestors up to the top. */
  groups: string[][];
};

/** What people write, by language. People with any other language write English. */
export type Sentences = { en: string[]; [language: string]: string[] };

/** The level of a topic on a scale from 1 to 5, and how much the seasons change it. */
export type Topic = { level: number; season: number };

/** What distinguishes a company from others. A topic is the id of a KPI; undefined for questions without one. */
export type Character = {
  topics: Record<string, Topic>;
  /** Returns how much better or worse a person feels because of events, in steps of a scale from 1 to 5. */
  turn(respondent: Respondent, topic: string | undefined, week: Week): number;
  /** Returns what a person with this sentiment (1 to 5) may write as a comment on an answer; nearly always nothing. */
  remark(random: Random, about: Remark): Sentences | undefined;
  /** Returns what people write in response to a free-text question. */
  openAnswer(key: string): Sentences;
};

export type Remark = { respondent: Respondent; topic: string | undefined; week: Week; felt: number };

export type Sentiment = {
  /** Returns what a person would answer: on a scale from 1 to 5, not rounded, and possibly a little beyond its ends. */
  about(respondent: Respondent, question: { key: string; topic: string | undefined }, week: Week): number;
  /** Returns how likely a person is to answer in a week, from 0 to 1. On average it is about `rate`. */
  toAnswer(respondent: Respondent, week: Week, rate: number): number;
};

export function sentimentsOf(seed: number, { topics, turn }: Character): Sentiment {
  const leans = new Map<string, number>();
  const lean = (name: string, deviation: number) => {
    const known = leans.get(name);
    if (known !== undefined) return known;
    const drawn = randomFrom(seed, name).around0(deviation);
    leans.set(name, drawn);
    return drawn;
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
      // If nearly everyone or nearly no one answers, there is little room for differences.
      const room = Math.min(1, Math.min(rate, 1 - rate) / 0.18);
      return Math.max(0, Math.min(1, rate + room * own));
    },
  };
}

/** Returns the effect of the season: better in summer, with a dip around 20 November. In steps of a scale from 1 to 5. */
export function season(week: Week): number {
  const day = (Date.parse(week) - Date.parse(`${week.slice(0, 4)}-01-01`)) / 86_400_000 + 3;
  return 0.2 * Math.cos((2 * Math.PI * (day - 195)) / 365) - 0.25 * Math.exp(-(((day - 323) / 22) ** 2));
}

/** Returns whether a week is in July, early August or around New Year. */
const isHoliday = (week: Week): boolean =>
  (week.slice(5) >= '07-01' && week.slice(5) <= '08-07') ||
  week.slice(5) >= '12-21' ||
  week.slice(5) <= '01-02';
