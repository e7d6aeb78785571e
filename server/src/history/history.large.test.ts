// Histories of any content and order, and a large one.
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { cases } from '../testing/house/cases.ts';
import { answerLine, importLines, later, question, round, skip } from '../testing/surveys.ts';
import { openWorld, type World } from '../testing/world.ts';
import { importHistory } from './history.ts';
import {
  company,
  createGroups,
  database,
  home,
  monday,
  people,
  validLines,
  useDatabase,
} from './history.fixture.ts';

useDatabase();

// Any history, in any order. Each answer is one that the person could give.

const fourteen = people(14);
const weekly = fc.record({
  groups: fc.uniqueArray(fc.constantFrom('top', 'north', 'team', 'south'), { minLength: 1, maxLength: 2 }),
  questions: fc.uniqueArray(fc.constantFrom('scale', 'recommend', 'yes', 'lunch', 'pets', 'words'), {
    minLength: 1,
  }),
  memberOf: fc.array(fc.subarray(['top', 'north', 'team', 'south'], { minLength: 1 }), {
    minLength: fourteen.length,
    maxLength: fourteen.length,
  }),
  given: fc.array(fc.nat(20), { minLength: fourteen.length * 6, maxLength: fourteen.length * 6 }),
});
const history = fc
  .tuple(fc.array(weekly, { minLength: 1, maxLength: 3 }), fc.infiniteStream(fc.nat()))
  .map(([weeks, random]) => {
    const lines = [
      ...validLines.slice(0, 9),
      ...weeks.flatMap((one, i) => linesOfWeek(weekName(addWeeks(monday, -i)), one)),
    ];
    const shuffled = () =>
      lines
        .map((line) => ({ line, at: random.next().value as number }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ line }) => line);
    return [shuffled(), shuffled()] as const;
  });

/** The groups within an asked one, in the tree of `company`. */
const within: Record<string, string[]> = {
  top: ['top', 'north', 'team', 'south'],
  north: ['north', 'team'],
  team: ['team'],
  south: ['south'],
};

function linesOfWeek(week: string, { groups, questions, memberOf, given }: Weekly): object[] {
  const done = new Set<string>();
  return groups.flatMap((group) => {
    const asked = fourteen.flatMap((person, i) => {
      const own = (memberOf[i] as string[]).filter((one) => within[group]?.includes(one));
      return own.length > 0 ? [[person, own] as const] : [];
    });
    const answers = asked.flatMap(([person]) =>
      questions.flatMap((key, j) => {
        const number = given[fourteen.indexOf(person) * 6 + j] as number;
        if (number > 16 || done.has(`${person} ${key}`)) return [];
        done.add(`${person} ${key}`);
        return [
          number > 14 ? skip(week, group, person, key) : answerBy(number, { week, group, person, key }),
        ];
      }),
    );
    return [round(week, group, questions, Object.fromEntries(asked)), ...answers];
  });
}

function answerBy(
  number: number,
  { week, group, person, key }: Record<'week' | 'group' | 'person' | 'key', string>,
) {
  const values: Record<string, unknown> = {
    scale: 1 + (number % 5),
    recommend: number % 11,
    yes: number % 2 === 0,
    lunch: number % 2 ? 'in' : 'out',
    pets: [[], ['in'], ['out'], ['out', 'in']][number % 4],
  };
  const comment = key === 'words' || number % 3 === 0 ? `${person} on ${key}` : undefined;
  return answerLine(week, group, person, key, values[key], comment);
}

type Weekly = { groups: string[]; questions: string[]; memberOf: string[][]; given: number[] };

describe('any history', () => {
  let world: World;
  let id: number;
  let token: string;
  beforeAll(async () => {
    world = await openWorld(undefined, {}, () => later);
    ({ id, token } = await world.account());
    await inTransaction(world.pool, async (tx) => {
      await createGroups(tx, id);
      await tx`update accounts set threshold = 3, comment_threshold = 3 where account_id = ${id}`;
    });
  });
  afterAll(() => world.close());

  /** Returns everything that the data interface reports about a company, exactly. The order of comments has no meaning. */
  async function dataOf(): Promise<string[]> {
    const get = async (path: string) => {
      const sent = await fetch(`${world.address}/v1/${path}`, { headers: { authorization: token } });
      expect({ path, status: sent.status }).toEqual({ path, status: 200 });
      return sent.text();
    };
    const [top] = JSON.parse(await get('groups')) as { id: number }[];
    const asked = `groupId=${top?.id}&includeSubgroups=true&fromDate=2024-10-01&toDate=2024-11-24`;
    const texts = await Promise.all(
      [
        `results?${asked}&granularData=true`,
        `responserates/values?${asked}`,
        `askedquestions?${asked}`,
        `kpis/mood/values?${asked}`,
      ].map(get),
    );
    const comments = await world.pool<{ row: string }[]>`
      select group_id || ' ' || g.week || ' ' || text as row
      from   comment_groups g join comments c using (account_id, week, question_id, position)
      where  account_id = ${id} order by 1`;
    return [...texts, ...comments.map(({ row }) => row)];
  }

  test('gives the same results, whatever the order of its lines', async () => {
    let figures = 0;
    await fc.assert(
      fc.asyncProperty(history, async ([one, other]) => {
        await deleteWeeks();
        const first = await importLines(world, id, one);
        const before = await dataOf();
        await deleteWeeks();
        const second = await importLines(world, id, other);
        expect({ ...second, questions: 0, kpis: 0 }).toEqual({ ...first, questions: 0, kpis: 0 });
        expect(await dataOf()).toEqual(before);
        figures += before.join().match(/"value":[\d.]/g)?.length ?? 0;
      }),
      cases(32),
    );
    expect(figures).toBeGreaterThan(100); // so not only withheld figures are compared
  });

  /** Deletes all weeks. Questions keep their IDs. */
  async function deleteWeeks(): Promise<void> {
    const tables = ['comment_groups', 'comments', 'results', 'response_rates', 'kpi_values', 'asked'];
    for (const table of [...tables, 'answers', 'assignments', 'rounds', 'weeks']) {
      await world.pool`delete from ${world.pool(table)} where account_id = ${id}`;
    }
  }
});

describe('a large file', () => {
  test('with 200,000 answers is imported within bounded memory', async () => {
    const acme = await company();
    const keys = Array.from({ length: 10 }, (_, i) => `q${i}`);
    const staff = people(1_000);
    const path = join(home, 'large.ndjson');
    function* text() {
      for (const key of keys) yield `${JSON.stringify(question(key, 1))}\n`;
      for (let i = 0; i < 20; i++) {
        const week = weekName(addWeeks(monday, -i));
        const asked = Object.fromEntries(staff.map((one, j) => [one, [j % 2 ? 'team' : 'south']]));
        yield `${JSON.stringify(round(week, 'top', keys, asked))}\n`;
        for (const one of staff) {
          yield keys
            .map((key, j) => `${JSON.stringify(answerLine(week, 'top', one, key, 1 + (j % 5)))}\n`)
            .join('');
        }
      }
    }
    await pipeline(text, createWriteStream(path));
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = () => {
      collect();
      return process.memoryUsage().heapUsed + process.memoryUsage().external;
    };
    const before = used();
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, used() - before)), 2_000);
    const imported = await importHistory(database.pool, database.keys, acme.id, path, later).finally(() =>
      clearInterval(timer),
    );
    expect(imported).toEqual({ questions: 10, kpis: 0, rounds: 20, answers: 200_000, weeks: 20 });
    expect(most).toBeLessThan(48 * 1024 * 1024);
  });
});
