// Every operation but those of SCIM (scim/isolation.attack.test.ts) with every kind of token, in two accounts: the status, and that no response to one account ever contains
// anything of the other.
import { auditOperations } from '@soundings/contract/audit/audit.ts';
import { dataOperations } from '@soundings/contract/data.ts';
import { type InterfaceName, type Operation, type Scope, scopes } from '@soundings/contract/operation.ts';
import { organizationOperations } from '@soundings/contract/organization.ts';
import { getFileReport, uploadFile, uploadOperations } from '@soundings/contract/storage.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToken, revokeToken } from '../accounts/tokens.ts';
import { openLog } from '../base/log.ts';
import { newToken } from '../base/crypto/secrets.ts';
import { answerLine, importLines, kpi, later, question, round } from '../testing/surveys.ts';
import { type JsonResponse, openWorld, type TestAccount, type World } from '../testing/world.ts';

let world: World;
let sides: Record<'one' | 'other', Side>;

type Kind = Scope | 'all' | 'none' | 'unknown' | 'revoked' | 'expired';
type Side = {
  account: TestAccount;
  tokens: Record<Kind, string | undefined>;
  /** The ids and names in the requests of this account. */
  named: Named;
};
type Named = { groupId: number; kpiId: string; file: string };
const kinds: Kind[] = [...scopes, 'all', 'none', 'unknown', 'revoked', 'expired'];
const operations: Operation[] = [
  ...dataOperations,
  ...organizationOperations,
  ...uploadOperations,
  ...auditOperations,
];
const names = { one: 'Zinnia', other: 'Quartz' };

/** Returns people, groups and attributes with the account's word in every text. */
const organizationOf = (word: string) => ({
  settings: { validateOnly: false },
  data: {
    groups: [
      { externalId: `${word}-top`, name: `${word} top`, description: `${word} description` },
      { externalId: 'shared', name: `${word} sub`, parent: `${word}-top` },
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

/** Returns one closed week: a KPI, questions of two types and comments, with the account's word in every text. */
function surveyOf(word: string): object[] {
  const [week, group] = ['2026-W46', `${word}-top`];
  const people = Array.from({ length: 12 }, (_, i) => `${word} ${i}`);
  return [
    question('mood', 1, { text: `${word} mood?`, translations: { sv: `${word} humör?` } }),
    question('lunch', 5, { text: `${word} lunch?`, options: [{ id: 'in', text: `${word} inside` }] }),
    kpi(`${word}-kpi`, ['mood'], { name: `${word} KPI`, imageURL: `https://example.com/${word}` }),
    round(week, group, ['mood', 'lunch'], Object.fromEntries(people.map((one) => [one, ['shared']]))),
    ...people.flatMap((one) => [
      answerLine(week, group, one, 'mood', 4, `${word} comment`),
      answerLine(week, group, one, 'lunch', 'in'),
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
    const create = (expires?: string) =>
      createToken(world.pool, account.id, { name: word, scopes: [...scopes], ...(expires && { expires }) });
    const [revoked, expired] = [await create(), await create('2020-01-01')];
    await revokeToken(world.pool, account.id, revoked.id);
    const tokens: Record<Kind, string | undefined> = {
      data: await account.tokenOf('data'),
      organization: await account.tokenOf('organization'),
      files: await account.tokenOf('files'),
      audit: await account.tokenOf('audit'),
      scim: await account.tokenOf('scim'),
      all: account.token,
      none: undefined,
      unknown: newToken(),
      revoked: revoked.token,
      expired: expired.token,
    };
    expect((await send(uploadFile, account.token, named)).status).toBe(200);
    return { account, tokens, named };
  };
  sides = { one: await side(names.one), other: await side(names.other) };
});
afterAll(async () => {
  // Closing would wait until the files are processed. Their outcome does not matter here.
  await world.pool`update files set processed_at = now() where processed_at is null`;
  await world.close();
});

/** Returns the URL of an operation with all parameters that add to its response. */
function addressOf({ path, query }: Operation, { groupId, kpiId, file }: Named): string {
  const { properties } = query as unknown as { properties: object };
  const all = { groupId, includeSubgroups: true, includeComments: true };
  const parameters = Object.entries(all)
    .filter(([name]) => Object.hasOwn(properties, name))
    .map(([name, value]) => `${name}=${value}`);
  return `${path.replace('{kpiId}', kpiId).replace('{name}', file)}?${parameters.join('&')}`;
}

async function send(operation: Operation, token: string | undefined, named: Named, body: unknown = {}) {
  const isJson = operation.method === 'POST' && !operation.bodyType;
  const headers = {
    ...(token !== undefined && { authorization: token }),
    ...(isJson && { 'content-type': 'application/json' }),
  };
  const form = new FormData();
  form.append('file', new File([named.file], named.file));
  const sent = isJson ? JSON.stringify(body) : form;
  const init = operation.method === 'POST' ? { headers, body: sent } : { headers };
  const response = await world.request(operation.method, addressOf(operation, named), init);
  return { ...response, text: JSON.stringify([response.body, ...response.headers]) };
}

/** Returns the status and body of an error response without its request id. */
const messageOf = ({ status, body }: JsonResponse<object>) => JSON.stringify([status, { ...body, id: '' }]);

/** The status for an invalid token: 400 in two interfaces of the description (§7), 401 in the others. */
const statusOfInvalid: Record<InterfaceName, number> = {
  data: 401,
  organization: 400,
  upload: 400,
  audit: 401,
  scim: 401,
};

function expectedStatus(operation: Operation, kind: Kind): number {
  if (kind === 'all' || kind === operation.scope) return 200;
  return scopes.includes(kind as Scope) ? 403 : statusOfInvalid[operation.interface];
}

const everything = (only: (operation: Operation) => boolean = () => true) =>
  operations.filter(only).map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

/**
 * Returns whether a response contains texts of the account. Response rates contain only figures, and the report of a push
 * without changes contains no texts.
 */
const containsText = ({ interface: name, operationId }: Operation) =>
  name !== 'organization' && operationId !== 'getResponseRates';

const hasGroup = ({ query }: Operation) => JSON.stringify(query).includes('"groupId"');

describe.each(everything())('%s', (_, operation) => {
  test('responds to each kind of token of either account with its status', async () => {
    for (const side of ['one', 'other'] as const) {
      const { tokens, named } = sides[side];
      const statuses: Record<string, number> = {};
      for (const kind of kinds) statuses[kind] = (await send(operation, tokens[kind], named)).status;
      expect(statuses).toEqual(
        Object.fromEntries(kinds.map((kind) => [kind, expectedStatus(operation, kind)])),
      );
    }
  });

  test('contains nothing from the other account, and an error contains nothing from either', async () => {
    for (const [side, foreign] of [
      ['one', names.other],
      ['other', names.one],
    ] as const) {
      const { tokens, named } = sides[side];
      for (const kind of kinds) {
        const { status, text } = await send(operation, tokens[kind], named);
        const secret = status === 200 ? [foreign] : Object.values(names);
        expect([kind, secret.filter((word) => text.includes(word))]).toEqual([kind, []]);
      }
    }
  });

  test('serves several accounts at once, each with its own data', async () => {
    const requests = Array.from({ length: 20 }, (__, i) => (['one', 'other'] as const)[i % 2]!);
    const responses = await Promise.all(
      requests.map((side) => {
        const { account, named } = sides[side];
        return send(operation, account.token, named, organizationOf(names[side]));
      }),
    );
    for (const [i, { status, text }] of responses.entries()) {
      const found = [names.one, names.other].filter((word) => text.includes(word));
      expect([status, found]).toEqual([200, containsText(operation) ? [names[requests[i]!]] : []]);
    }
  });
});

describe('data of one account that the other cannot reach', () => {
  test('the data interface returns to each account all of its own groups and no others', async () => {
    for (const side of ['one', 'other'] as const) {
      const groups = await sides[side].account.groups();
      expect(groups.map(({ name }) => name)).toEqual([`${names[side]} top`, `${names[side]} sub`]);
      expect(groups[0]?.subgroups).toEqual([groups[1]?.id]);
    }
  });

  test.each(everything(hasGroup))(
    "%s: another account's group gets the same message as a group that does not exist",
    async (_, operation) => {
      const { account, named } = sides.one;
      expect((await send(operation, account.token, named)).status).toBe(200);
      const absent = await send(operation, account.token, { ...named, groupId: 999_999_999 });
      expect(absent).toMatchObject({ status: 404, body: { details: [{ type: 'group not found' }] } });
      for (const { id } of await sides.other.account.groups()) {
        const foreign = await send(operation, account.token, { ...named, groupId: id });
        expect(messageOf(foreign)).toBe(messageOf(absent));
      }
    },
  );

  test.each(everything(({ path }) => path.includes('{kpiId}')))(
    "%s: another account's KPI gets the same message as a KPI that does not exist",
    async (_, operation) => {
      const { account, named } = sides.one;
      const absent = await send(operation, account.token, { ...named, kpiId: 'Nowhere-kpi' });
      expect(absent).toMatchObject({ status: 404, body: { details: [{ type: 'kpi not found' }] } });
      const foreign = await send(operation, account.token, { ...named, kpiId: sides.other.named.kpiId });
      expect(messageOf(foreign)).toBe(messageOf(absent));
    },
  );

  test("another account's file gets the same message as a file that does not exist", async () => {
    const { account, named } = sides.one;
    const absent = await send(getFileReport, account.token, { ...named, file: 'Nowhere.csv' });
    expect(absent).toMatchObject({ status: 404, body: { details: [{ type: 'file not found' }] } });
    const foreign = await send(getFileReport, account.token, { ...named, file: sides.other.named.file });
    expect(messageOf(foreign).replaceAll(names.other, 'Nowhere')).toBe(messageOf(absent));
  });

  test('a question of another account adds nothing to the results', async () => {
    const [{ account, named }, { account: other }] = [sides.one, sides.other];
    const [foreign] = await world.pool<{ id: number }[]>`
      select question_id as id from questions where account_id = ${other.id}`;
    const response = await world.request<{ questions: object[]; values: object[] }[]>(
      'GET',
      `/v1/results?groupId=${named.groupId}&questionIds=${foreign?.id}`,
      { headers: { authorization: account.token } },
    );
    expect(response.body).toEqual([{ questions: [], values: [{}] }]);
  });

  test.each(everything(({ interface: name }) => name === 'organization'))(
    '%s: the same externalIds and email addresses in two accounts are two users, independent of each other',
    async (_, operation) => {
      const stateOf = async (accountId: number) =>
        JSON.stringify([
          await world.pool`select * from users where account_id = ${accountId} order by user_id`,
          await world.pool`select * from groups where account_id = ${accountId} order by group_id`,
          await world.pool`select * from memberships where account_id = ${accountId} order by user_id, group_id, kind`,
          await world.pool`select * from runs where account_id = ${accountId} order by run_id`,
        ]);
      // New accounts: jobs still process files that the tests above sent to the other ones.
      const [one, other] = [await world.account(), await world.account()];
      for (const account of [one, other]) {
        expect((await account.push(organizationOf(names.one))).status).toBe(200);
      }
      const before = await stateOf(other.id);
      const settings = { validateOnly: false };
      const changed = organizationOf('Changed');
      const none = { settings, data: { users: [], groups: [] } };
      for (const body of [changed, none]) {
        expect((await send(operation, one.token, sides.one.named, body)).status).toBe(200);
      }
      expect(await one.groups()).toEqual([]);
      expect(JSON.parse(before)).not.toContainEqual([]);
      expect(await stateOf(other.id)).toBe(before);
    },
  );

  test.each(everything(({ interface: name }) => name === 'organization'))(
    "%s: another account's group gets the same message as a group that does not exist",
    async (_, operation) => {
      const name = (group: string) => ({
        data: {
          users: [{ externalId: 'x', firstName: 'F', lastName: 'L', accessInfo: { memberOf: [group] } }],
        },
      });
      const { account, named } = sides.one;
      const foreign = await send(operation, account.token, named, name(`${names.other}-top`));
      const absent = await send(operation, account.token, named, name('Nowhere-top'));
      expect(absent.status).toBe(400);
      expect(messageOf(foreign).replaceAll(names.other, 'Nowhere')).toBe(messageOf(absent));
    },
  );
});

test('every operation of the contract is tested here, in every interface', () => {
  expect(operations.length).toBeGreaterThanOrEqual(3);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
});
