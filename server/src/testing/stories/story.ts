// A random story of an account: what has happened so far, and the state that the oracle computes from it.
import type { Week } from '@soundings/contract/weeks.ts';
import type { Random } from '../../simulation/random.ts';
import type { AccountState, Group, Kpi, Question } from '../oracle/account-state.ts';
import { commentsOf, kpiFiguresOf, type Place, ratesOf, resultsOf } from '../oracle/figures.ts';
import { type LiveResults, withBatch } from '../oracle/live-results.ts';
import { askedOf, type SurveyWeek } from '../oracle/survey-week.ts';
import type { TestAccount, World } from '../world.ts';

type Published = Pick<AccountState, 'results' | 'rates' | 'comments' | 'kpiFigures'>;
/** `live`: what a live week shows. */
export type StoryWeek = Published & { survey: SurveyWeek; isClosed: boolean; live: LiveResults };

export type Story = {
  world: World;
  account: TestAccount;
  random: Random;
  /** How many changes there have been. Gives new things their names. */
  count: number;
  threshold: number;
  isLive: boolean;
  groups: Group[];
  /** The groups of each person. */
  memberOf: Map<string, number[]>;
  questions: Question[];
  kpis: Kpi[];
  weeks: StoryWeek[];
  /** The week before the earliest one, and the one after the latest. */
  free: { before: Week; after: Week };
};

export const newStory = (world: World, account: TestAccount, random: Random): Story => ({
  world,
  account,
  random,
  count: 0,
  threshold: 5,
  isLive: false,
  groups: [],
  memberOf: new Map(),
  questions: [],
  kpis: [],
  weeks: [],
  free: { before: '2026-11-09', after: '2026-11-16' },
});

export const int = (random: Random, low: number, high: number): number =>
  low + Math.floor(random.next() * (high - low + 1));

export const openWeeks = ({ weeks }: Story): StoryWeek[] => weeks.filter(({ isClosed }) => !isClosed);

/** Notes that a week has begun. */
export function begin(story: Story, survey: SurveyWeek): StoryWeek {
  const live = { results: [], counted: new Map() };
  const week = { survey, isClosed: false, live, results: [], rates: [], comments: [], kpiFigures: [] };
  story.weeks.push(week);
  return week;
}

/** Publishes what a live week shows, if anything is added. */
export function publishBatch(story: Story, week: StoryWeek): void {
  const live = withBatch(week.survey, week.live, false);
  if (live) publishResults(story, Object.assign(week, { live, results: live.results }));
}

/** Publishes the figures of a week that closes (P1). */
export function publish(story: Story, week: StoryWeek): void {
  const { survey, live } = week;
  const results = survey.isLive ? withBatch(survey, live, true)!.results : resultsOf(survey);
  const more = { rates: ratesOf(survey), comments: commentsOf(survey) };
  publishResults(story, Object.assign(week, { isClosed: true, results, ...more }));
}

function publishResults(story: Story, week: StoryWeek): void {
  week.kpiFigures = kpiFiguresOf(week.survey, week.results.filter(isPresent(story)), story.kpis);
  for (const one of story.kpis)
    one.hasValues ||= week.kpiFigures.some(({ kpi, value }) => kpi === one.id && value !== null);
}

/** A15: a removed group has no figures. */
const isPresent =
  ({ groups }: Story) =>
  ({ g }: Pick<Place, 'g'>) =>
    groups.some(({ id }) => id === g);

/** Returns a copy of what responses depend on. */
export function stateOf(story: Story, label: string): AccountState {
  const { groups, questions, kpis, weeks } = story;
  const here = isPresent(story);
  const asked = weeks.flatMap(({ survey, isClosed, results }) =>
    [...askedOf(survey)].map(([g, questionIds]) => {
      const isOpen = !isClosed && results.length === 0;
      return { g, week: survey.week, questionIds, isOpen };
    }),
  );
  return structuredClone({
    label,
    groups,
    questions,
    kpis,
    results: weeks.flatMap(({ results }) => results).filter(here),
    rates: weeks.flatMap(({ rates }) => rates).filter(here),
    kpiFigures: weeks.flatMap(({ kpiFigures }) => kpiFigures).filter(here),
    comments: weeks.flatMap(({ comments }) => comments).filter(here),
    asked: asked.filter(here),
  });
}
