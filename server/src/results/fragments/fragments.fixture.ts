// For tests of fragments: imports weeks, and reads the same response from fragments and from the rows of figures.
import { addWeeks, type Week, weekName } from '@soundings/contract/weeks.ts';
import type { Db, Pool } from '../../db/db.ts';
import type { Reading } from '../../db/replica/reads.ts';
import { StreamedResponse } from '../../http/responses/responses.ts';
import type { Random } from '../../simulation/random.ts';
import { answerLine, importLines, round } from '../../testing/surveys.ts';
import { type Company, options, peopleOf, world } from '../data/data.fixture.ts';
import { openKnownNames } from '../responses/known-names.ts';
import type { Reader, ResponseText, ResultsQuery } from '../responses/response-parts.ts';
import {
  askedQuestionsResponse,
  kpiValuesResponse,
  ratesResponse,
  resultsResponse,
} from '../data/results.ts';

const keys = ['mood', 'tens', 'advise', 'bus', 'lunch', 'tools'];
const groupsAsked = ['company', 'sales', 'north', 'tech'];

/** Weeks over four years, before the open one. */
export const weekAt = (i: number): Week => addWeeks('2026-11-02', -i);

function valueOf(random: Random, key: string): unknown {
  const choices = options.map(({ id }) => id);
  if (key === 'bus') return random.chance(0.5);
  if (key === 'lunch') return random.oneOf(choices);
  if (key === 'tools') return choices.filter(() => random.chance(0.5));
  if (key === 'advise') return Math.floor(random.next() * 11);
  return 1 + Math.floor(random.next() * 5);
}

/** Imports a closed week: a random group is asked random questions, and some people answer them. */
export async function importWeek({ account }: Company, random: Random, week: Week): Promise<void> {
  const name = weekName(week);
  const present = new Set((await account.groups()).map(({ externalId }) => externalId));
  const to = random.oneOf(groupsAsked.filter((one) => present.has(one)));
  const asked = random.shuffled(keys).slice(0, 1 + Math.floor(random.next() * 3));
  const below = to === 'company' ? ['north', 'south', 'tech'] : to === 'sales' ? ['north', 'south'] : [to];
  const people = peopleOf(below.filter((one) => present.has(one)));
  const isAnswered = random.oneOf([0.3, 0.9]);
  await importLines(world, account.id, [
    round(name, to, asked, people),
    ...Object.keys(people).flatMap((person) =>
      asked.flatMap((key) =>
        random.chance(isAnswered) ? [answerLine(name, to, person, key, valueOf(random, key))] : [],
      ),
    ),
  ]);
}

/** A request of the data interface. */
export type DataRequest = {
  endpoint: 'kpi values' | 'rates' | 'results' | 'asked';
  kpiId: string;
  query: ResultsQuery;
  numbers: Reader['numbers'];
  questionIds: number[] | undefined;
  comments: boolean;
  granular: boolean;
  language: string | undefined;
};

/** What a random request chooses from. */
export type Choices = {
  groupIds: number[];
  segmentIds: number[];
  kpiIds: string[];
  questionIds: number[];
  weeks: Week[];
  now: number;
};

/** Returns a request of any endpoint, for any groups and weeks. */
export function anyRequest(random: Random, choices: Choices): DataRequest {
  const { groupIds, segmentIds, kpiIds, questionIds, weeks, now } = choices;
  const kind = random.oneOf(['group', 'segment', undefined] as const);
  const ids = kind === 'segment' && segmentIds.length > 0 ? segmentIds : groupIds;
  const first = random.oneOf(weeks);
  const length = random.oneOf([0, 0, 1, 5, 40, 60, 200]);
  return {
    endpoint: random.oneOf(['kpi values', 'rates', 'results', 'asked'] as const),
    kpiId: random.oneOf(kpiIds),
    query: {
      groupId: String(random.oneOf(ids)),
      withSubgroups: random.chance(0.8),
      kind: ids === segmentIds ? kind : undefined,
      window: random.chance(0.9)
        ? { first: addWeeks(first, -random.oneOf([0, 1, 50])), last: addWeeks(first, length) }
        : undefined,
      now,
    },
    numbers: random.chance(0.8) ? 'plain' : 'quoted',
    questionIds: random.chance(0.3) ? random.shuffled(questionIds).slice(0, 3) : undefined,
    comments: random.chance(0.3),
    granular: random.chance(0.2),
    language: random.oneOf(['sv', 'en', undefined]),
  };
}

type Account = { accountId: number; version: string; onDamage?: Reader['onDamage'] };

const names = openKnownNames();

/** Returns the text of a response, and whether it came from fragments: only these are bytes. */
export async function responseFrom(
  db: Db,
  { accountId, version, onDamage = () => {} }: Account,
  { endpoint, kpiId, query, numbers, questionIds, comments, granular, language }: DataRequest,
): Promise<{ text: string; isFromFragments: boolean }> {
  // Reading from rows uses one transaction for everything.
  const reading: Reading = { once: (work) => work(db), stream: (chunks) => chunks(db, db) };
  const reader: Reader = { accountId, numbers, timezone: 'UTC', version, onDamage, names };
  const response = await (endpoint === 'kpi values'
    ? kpiValuesResponse(reading, reader, kpiId, query)
    : endpoint === 'rates'
      ? ratesResponse(reading, reader, query)
      : endpoint === 'asked'
        ? askedQuestionsResponse(reading, reader, query, language)
        : resultsResponse(reading, reader, query, { questionIds, comments, granular, language }));
  return wholeOf(response);
}

async function wholeOf(response: ResponseText): Promise<{ text: string; isFromFragments: boolean }> {
  if (!(response instanceof StreamedResponse)) return { text: response, isFromFragments: false };
  const parts: Buffer[] = [];
  let isFromFragments = false;
  for await (const chunk of response.chunks()) {
    isFromFragments ||= typeof chunk !== 'string';
    parts.push(Buffer.from(chunk as string));
  }
  return { text: Buffer.concat(parts).toString(), isFromFragments };
}

/** Returns the text of a response as it is without any fragments. */
export async function responseFromRows(pool: Pool, account: Account, request: DataRequest): Promise<string> {
  let text: string | undefined;
  const undone = new Error('undone');
  await pool
    .begin(async (tx) => {
      await tx`delete from fragment_weeks where account_id = ${account.accountId}`;
      await tx`delete from pack_weeks where account_id = ${account.accountId}`;
      ({ text } = await responseFrom(tx, account, request));
      throw undone;
    })
    .catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  return text as string;
}
