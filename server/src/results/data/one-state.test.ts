// A response shows one state of the account, even if the account changes after the first statement of the response: texts and figures are
// of the same version, and a group that is removed meanwhile is not found.
import { feedMetrics } from '@soundings/contract/feed-rows.ts';
import { addWeeks, type Week, weekName } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readPrimary, type Reading } from '../../db/replica/reads.ts';
import { openPool, type Pool } from '../../db/db.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { importLines, kpi, question, round } from '../../testing/surveys.ts';
import type { TestAccount } from '../../testing/world.ts';
import { buildFragments } from '../fragments/build-fragments.ts';
import { buildPacks } from '../fragments/build-packs.ts';
import { openKnownNames } from '../responses/known-names.ts';
import type { Reader, ResponseText, ResultsQuery } from '../responses/response-parts.ts';
import {
  answersOf,
  type Company,
  openCompany,
  peopleOf,
  six,
  tree,
  useService,
  world,
} from './data.fixture.ts';
import { feedResponse } from './feed.ts';
import {
  askedQuestionsResponse,
  kpiValuesResponse,
  ratesResponse,
  type ResultsWanted,
  resultsResponse,
} from './results.ts';

useService();

let reads: Pool;
beforeAll(() => {
  reads = openPool(world.databaseUrl, 4);
});
afterAll(() => reads?.end());

type Respond = (reading: Reading, reader: Reader, query: ResultsQuery) => Promise<ResponseText>;

const results =
  (more: Partial<ResultsWanted>): Respond =>
  (...by) =>
    resultsResponse(...by, {
      questionIds: undefined,
      comments: false,
      granular: false,
      language: undefined,
      ...more,
    });

const requests: Record<string, Respond> = {
  'KPI values': (reading, reader, query) => kpiValuesResponse(reading, reader, 'advice', query),
  'response rates': ratesResponse,
  results: results({}),
  'results with comments': results({ comments: true }),
  'individual answers': results({ granular: true }),
  'asked questions': (...by) => askedQuestionsResponse(...by, undefined),
  'the feed': async (...by) =>
    feedResponse(...by, { metrics: feedMetrics, format: 'csv', language: undefined }),
};

/** Returns the text of a response. `change`: what happens to the account after the first statement of the response. */
async function textOf(
  account: TestAccount,
  respond: Respond,
  query: ResultsQuery,
  change: () => Promise<unknown> = async () => {},
): Promise<string> {
  const accountId = account.id;
  const [row] = await world.pool<{ version: string }[]>`
    select version::text as version from accounts where account_id = ${accountId}`;
  const { version } = row!;
  let changing: Promise<unknown> | undefined;
  const known = openKnownNames();
  const changed = async <T>(found: T): Promise<T> => {
    await (changing ??= change());
    return found;
  };
  const names: Reader['names'] = {
    questions: async (...by) => changed(await known.questions(...by)),
    kpi: async (...by) => changed(await known.kpi(...by)),
  };
  const reader = {
    accountId,
    numbers: 'plain',
    timezone: 'UTC',
    version,
    onDamage: () => {},
    names,
  } as const;
  const response = await respond(
    readPrimary({ pool: world.pool, reads }).of({ accountId, version }),
    reader,
    query,
  );
  await (changing ??= change());
  if (typeof response === 'string') return response;
  let text = '';
  for await (const chunk of response.chunks())
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
  return text;
}

/** Publishes a week with a new question and a new text of another one, in one transaction. */
async function publish({ account }: Company, week: Week): Promise<void> {
  const [name, people] = [weekName(week), ['north', 'south', 'tech']];
  await importLines(world, account.id, [
    question('advise', 3, { text: `${name}?` }),
    question(name, 1),
    kpi('advice', ['advise', name], { name }),
    round(name, 'company', ['advise', name], peopleOf(people)),
    ...people.flatMap((one) =>
      ['advise', name].flatMap((key) => answersOf(name, 'company', one, key, six(4))),
    ),
  ]);
  await buildPacks(world.pool, account.id);
  await buildFragments(world.pool, account.id);
}

const now = Date.parse('2026-11-21T12:00:00Z');

describe('a week that is published during a response, with a new question and a new text, is in it with both or not at all', () => {
  // Weeks of a short window are read from packs or rows, and those of a long one from packs or fragments.
  const cases = Object.entries(requests).flatMap(([name, respond]) =>
    ['short', 'long'].flatMap((length) =>
      [false, true].map((withSubgroups) => ({ name, respond, length, withSubgroups })),
    ),
  );
  let published: Company;
  beforeAll(async () => {
    published = await openCompany();
    await publish(published, '2026-10-26');
  });

  test.each(cases.map((one, i) => ({ ...one, week: addWeeks('2026-10-19', -i) })))(
    '$name, $length, with subgroups: $withSubgroups',
    async ({ respond, length, withSubgroups, week }) => {
      const window = {
        first: length === 'short' ? addWeeks(week, -1) : '2025-12-29',
        last: addWeeks(week, 1),
      };
      const query = { groupId: String(published.group['sales']), withSubgroups, window, now };
      const read = (change?: () => Promise<void>) => textOf(published.account, respond, query, change);
      const before = await read();
      const during = await read(() => publish(published, week));
      const after = await read();
      expect(after).not.toBe(before);
      expect([before, after]).toContain(during);
    },
  );
});

describe('a group that is removed during a response with its subgroups is not found', () => {
  const names = Object.keys(requests);
  const withLeaves = (leaves: string[]) => [
    ...tree,
    ...leaves.map((name) => unit(name, { parent: 'north' })),
  ];
  let account: TestAccount;
  beforeAll(async () => {
    ({ account } = await openCompany());
    await apply(account, { groups: withLeaves(names) });
  });

  test.each(names)('%s', async (name) => {
    const { id } = (await account.groups()).find(({ externalId }) => externalId === name)!;
    const query = { groupId: String(id), withSubgroups: true, window: undefined, now };
    const remove = () => apply(account, { groups: withLeaves(names.slice(names.indexOf(name) + 1)) });
    const reading = textOf(account, requests[name]!, query, remove);
    await expect(reading).rejects.toMatchObject({ kind: 'not_found' });
  });
});
