// Every operation against every kind of token, in two accounts: who gets which status, and that no answer to one
// account ever holds anything of another.
import { until } from '../testing/until.ts';
import { dataOperations } from '@soundings/contract/data.ts';
import type { InterfaceName, Operation, Scope } from '@soundings/contract/operation.ts';
import { scopes } from '@soundings/contract/operation.ts';
import { organizationOperations } from '@soundings/contract/organization.ts';
import { getFileReport, uploadFile, uploadOperations } from '@soundings/contract/storage.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToken, revokeToken } from '../accounts/tokens.ts';
import { openLog } from '../base/log.ts';
import { newToken } from '../base/secrets.ts';
import { answer, importLines, kpi, later, question, round } from '../testing/surveys.ts';
import { type Answer, openWorld, type TestAccount, type World } from '../testing/world.ts';

let world: World;
let sides: Record<'one' | 'other', Side>;

type Kind = Scope | 'all' | 'none' | 'unknown' | 'revoked' | 'expired';
type Side = {
  account: TestAccount;
  tokens: Record<Kind, string | undefined>;
  /** What the requests of this account name. */
  named: Named;
};
type Named = { groupId: number; kpiId: string; file: string };
const kinds: Kind[] = [...scopes, 'all', 'none', 'unknown', 'revoked', 'expired'];
const operations: Operation[] = [...dataOperations, ...organizationOperations, ...uploadOperations];
const names = { one: 'Zinnia', other: 'Quartz' };

/** What only this account has: people, groups and attributes with its word in every text. */
const organizationOf = (word: string) => ({
  settings: { validateOnly: false },
  data: {
    groups: [
      { externalId: `${word}-top`, name: `${word} top`, description: `${word} description` },
      { externalId: 'shared', name: `${word} beneath`, parent: `${word}-top` },
    ],
    users: [
      {
        externalId: 'shared',
        firstName: word,
        lastName: word,
        email: 'shared@example.org',
        accessInfo: { memberOf: ['shared'] },
      },
      { externalId: word, firstName: word, lastName: word, email: `${word}@example.org` },
    ],
  },
});

/** One closed week: a KPI, questions of two types and comments, with its word in every text. */
function surveyOf(word: string): object[] {
  const [week, group] = ['2026-W46', `${word}-top`];
  const people = Array.from({ length: 12 }, (_, i) => `${word} ${i}`);
  return [
    question('mood', 1, { text: `${word} mood?`, translations: { sv: `${word} humör?` } }),
    question('lunch', 5, { text: `${word} lunch?`, options: [{ id: 'in', text: `${word} inside` }] }),
    kpi(`${word}-kpi`, ['mood'], { name: `${word} KPI`, imageURL: `https://example.com/${word}` }),
    round(week, group, ['mood', 'lunch'], Object.fromEntries(people.map((one) => [one, ['shared']]))),
    ...people.flatMap((one) => [
      answer(week, group, one, 'mood', 4, `${word} comment`),
      answer(week, group, one, 'lunch', 'in'),
    ]),
  ];
}

beforeAll(async () => {
  world = await openWorld(openLog('error'), {}, () => later);
  const side = async (word: string) => {
    const account = await world.account();
    expect((await account.push(organizationOf(word))).status).toBe(200);
    await importLines(world, account.id, surveyOf(word));
    const top = (await account.groups()).find(({ name }) => name === `${word} top`);
    const named = { groupId: top?.id as number, kpiId: `${word}-kpi`, file: `${word}.csv` };
    const made = (expires?: string) =>
      createToken(world.pool, account.id, { name: word, scopes: [...scopes], ...(expires && { expires }) });
    const [revoked, expired] = [await made(), await made('2020-01-01')];
    await revokeToken(world.pool, account.id, revoked.id);
    const tokens: Record<Kind, string | undefined> = {
      data: await account.tokenOf('data'),
      organization: await account.tokenOf('organization'),
      files: await account.tokenOf('files'),
      all: account.token,
      none: undefined,
      unknown: newToken(),
      revoked: revoked.token,
      expired: expired.token,
    };
    expect((await ask(uploadFile, account.token, named)).status).toBe(200);
    return { account, tokens, named };
  };
  sides = { one: await side(names.one), other: await side(names.other) };
});
afterAll(async () => {
  // The stop would wait until the files are processed; what becomes of them is of no matter here.
  await world.pool`update files set processed_at = now() where processed_at is null`;
  await world.close();
});

/** The address with everything that the operation can tell. */
function addressOf({ path, query }: Operation, { groupId, kpiId, file }: Named): string {
  const { properties } = query as unknown as { properties: object };
  const wanted = { groupId, includeSubgroups: true, includeComments: true };
  const parameters = Object.entries(wanted)
    .filter(([name]) => Object.hasOwn(properties, name))
    .map(([name, value]) => `${name}=${value}`);
  return `${path.replace('{kpiId}', kpiId).replace('{name}', file)}?${parameters.join('&')}`;
}

async function ask(operation: Operation, token: string | undefined, named: Named, body: unknown = {}) {
  const isJson = operation.method === 'POST' && !operation.bodyType;
  const headers = {
    ...(token !== undefined && { authorization: token }),
    ...(isJson && { 'content-type': 'application/json' }),
  };
  const form = new FormData();
  form.append('file', new File([named.file], named.file));
  const sent = isJson ? JSON.stringify(body) : form;
  const init = operation.method === 'POST' ? { headers, body: sent } : { headers };
  const answered = await world.request(operation.method, addressOf(operation, named), init);
  return { ...answered, text: JSON.stringify([answered.body, ...answered.headers]) };
}

/** A refusal without what is of this very request. */
const words = ({ status, body }: Answer<object>) => JSON.stringify([status, { ...body, id: '' }]);

/** A token that opens nothing: 401 by the data interface, 400 by the two others (§7). */
const statusOfInvalid: Record<InterfaceName, number> = { data: 401, organization: 400, upload: 400 };

function statusWanted(operation: Operation, kind: Kind): number {
  if (kind === 'all' || kind === operation.scope) return 200;
  return scopes.includes(kind as Scope) ? 403 : statusOfInvalid[operation.interface];
}

const everything = (only: (operation: Operation) => boolean = () => true) =>
  operations.filter(only).map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

/** Whether an answer has words of the account: response rates are figures alone, and a push that changes nothing is told in none. */
const tellsWords = ({ interface: name, operationId }: Operation) =>
  name !== 'organization' && operationId !== 'getResponseRates';

const hasGroup = ({ query }: Operation) => JSON.stringify(query).includes('"groupId"');

describe.each(everything())('%s', (_, operation) => {
  test('answers each kind of token of either account with its status', async () => {
    for (const side of ['one', 'other'] as const) {
      const { tokens, named } = sides[side];
      const answered: Record<string, number> = {};
      for (const kind of kinds) answered[kind] = (await ask(operation, tokens[kind], named)).status;
      expect(answered).toEqual(
        Object.fromEntries(kinds.map((kind) => [kind, statusWanted(operation, kind)])),
      );
    }
  });

  test('answers nothing of the other account, nor a refused caller anything of either', async () => {
    for (const [side, foreign] of [
      ['one', names.other],
      ['other', names.one],
    ] as const) {
      const { tokens, named } = sides[side];
      for (const kind of kinds) {
        const { status, text } = await ask(operation, tokens[kind], named);
        const secret = status === 200 ? [foreign] : Object.values(names);
        expect([kind, secret.filter((word) => text.includes(word))]).toEqual([kind, []]);
      }
    }
  });

  test('is served to several accounts at once, each its own', async () => {
    const asked = Array.from({ length: 20 }, (__, i) => (['one', 'other'] as const)[i % 2]!);
    const answers = await Promise.all(
      asked.map((side) => {
        const { account, named } = sides[side];
        return ask(operation, account.token, named, organizationOf(names[side]));
      }),
    );
    for (const [i, { status, text }] of answers.entries()) {
      const found = [names.one, names.other].filter((word) => text.includes(word));
      expect([status, found]).toEqual([200, tellsWords(operation) ? [names[asked[i]!]] : []]);
    }
  });
});

describe('what one account has, and the other cannot reach', () => {
  test('the data interface shows each account its own groups, and all of them', async () => {
    for (const side of ['one', 'other'] as const) {
      const groups = await sides[side].account.groups();
      expect(groups.map(({ name }) => name)).toEqual([`${names[side]} top`, `${names[side]} beneath`]);
      expect(groups[0]?.subgroups).toEqual([groups[1]?.id]);
    }
  });

  test.each(everything(hasGroup))(
    "%s: another account's group is not found, in the same words as one that does not exist",
    async (_, operation) => {
      const { account, named } = sides.one;
      expect((await ask(operation, account.token, named)).status).toBe(200);
      const absent = await ask(operation, account.token, { ...named, groupId: 999_999_999 });
      expect(absent).toMatchObject({ status: 404, body: { details: [{ type: 'group not found' }] } });
      for (const { id } of await sides.other.account.groups()) {
        const foreign = await ask(operation, account.token, { ...named, groupId: id });
        expect(words(foreign)).toBe(words(absent));
      }
    },
  );

  test.each(everything(({ path }) => path.includes('{kpiId}')))(
    "%s: another account's KPI is not found, in the same words as one that does not exist",
    async (_, operation) => {
      const { account, named } = sides.one;
      const absent = await ask(operation, account.token, { ...named, kpiId: 'Nowhere-kpi' });
      expect(absent).toMatchObject({ status: 404, body: { details: [{ type: 'kpi not found' }] } });
      const foreign = await ask(operation, account.token, { ...named, kpiId: sides.other.named.kpiId });
      expect(words(foreign)).toBe(words(absent));
    },
  );

  test("another account's file is not found, in the same words as one that does not exist", async () => {
    const { account, named } = sides.one;
    const absent = await ask(getFileReport, account.token, { ...named, file: 'Nowhere.csv' });
    expect(absent).toMatchObject({ status: 404, body: { details: [{ type: 'file not found' }] } });
    const foreign = await ask(getFileReport, account.token, { ...named, file: sides.other.named.file });
    expect(words(foreign).replaceAll(names.other, 'Nowhere')).toBe(words(absent));
  });

  test("a question of another account adds nothing to one's results", async () => {
    const [{ account, named }, { account: other }] = [sides.one, sides.other];
    const [foreign] = await world.pool<{ id: number }[]>`
      select question_id as id from questions where account_id = ${other.id}`;
    const answered = await world.request<{ questions: object[]; values: object[] }[]>(
      'GET',
      `/v1/results?groupId=${named.groupId}&questionIds=${foreign?.id}`,
      { headers: { authorization: account.token } },
    );
    expect(answered.body).toEqual([{ questions: [], values: [{}] }]);
  });

  test.each(everything(({ interface: name }) => name === 'organization'))(
    '%s: the same externalIds and addresses in two accounts are two users; neither touches the other',
    async (_, operation) => {
      const stateOf = async (accountId: number) =>
        JSON.stringify([
          await world.pool`select * from users where account_id = ${accountId} order by user_id`,
          await world.pool`select * from groups where account_id = ${accountId} order by group_id`,
          await world.pool`select * from memberships where account_id = ${accountId} order by user_id, group_id, kind`,
          await world.pool`select * from runs where account_id = ${accountId} order by run_id`,
        ]);
      const one = await world.account();
      await one.push(organizationOf(names.one));
      // Files that the tests before have sent are processed by a job.
      await until(async () => (await world.pool`select from files where processed_at is null`).length === 0);
      const before = await stateOf(sides.other.account.id);
      const settings = { validateOnly: false };
      const changed = organizationOf('Changed');
      const none = { settings, data: { users: [], groups: [] } };
      for (const body of [changed, none]) {
        expect((await ask(operation, one.token, sides.one.named, body)).status).toBe(200);
      }
      expect(await one.groups()).toEqual([]);
      expect(await stateOf(sides.other.account.id)).toBe(before);
    },
  );

  test.each(everything(({ interface: name }) => name === 'organization'))(
    "%s: another account's group is unknown, in the same words as one that does not exist",
    async (_, operation) => {
      const name = (group: string) => ({
        data: {
          users: [{ externalId: 'x', firstName: 'F', lastName: 'L', accessInfo: { memberOf: [group] } }],
        },
      });
      const { account, named } = sides.one;
      const foreign = await ask(operation, account.token, named, name(`${names.other}-top`));
      const absent = await ask(operation, account.token, named, name('Nowhere-top'));
      expect(absent.status).toBe(400);
      expect(words(foreign).replaceAll(names.other, 'Nowhere')).toBe(words(absent));
    },
  );
});

test('every operation of the contract is asked here, in every interface that has any', () => {
  expect(operations.length).toBeGreaterThanOrEqual(3);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
});
