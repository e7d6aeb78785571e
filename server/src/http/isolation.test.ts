// Every operation against every kind of token, in two accounts: who gets which status, and that no answer to one
// account ever holds anything of another.
import { dataOperations } from '@soundings/contract/data.ts';
import type { InterfaceName, Operation, Scope } from '@soundings/contract/operation.ts';
import { scopes } from '@soundings/contract/operation.ts';
import { organizationOperations } from '@soundings/contract/organization.ts';
import { uploadOperations } from '@soundings/contract/storage.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToken, revokeToken } from '../accounts/tokens.ts';
import { newToken } from '../base/secrets.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';

let world: World;
let sides: Record<
  'one' | 'other',
  { account: TestAccount; word: string; tokens: Record<Kind, string | undefined> }
>;

type Kind = Scope | 'all' | 'none' | 'unknown' | 'revoked' | 'expired';
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

beforeAll(async () => {
  world = await openWorld();
  const side = async (word: string) => {
    const account = await world.account();
    expect((await account.push(organizationOf(word))).status).toBe(200);
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
    return { account, word, tokens };
  };
  sides = { one: await side(names.one), other: await side(names.other) };
});
afterAll(() => world.close());

async function ask(operation: Operation, token: string | undefined, body: unknown = {}) {
  const headers = {
    ...(token !== undefined && { authorization: token }),
    ...(operation.method === 'POST' && { 'content-type': 'application/json' }),
  };
  const init = operation.method === 'POST' ? { headers, body: JSON.stringify(body) } : { headers };
  const { status, headers: said, body: answer } = await world.request(operation.method, operation.path, init);
  return { status, text: JSON.stringify([answer, ...said]), answer };
}

/** A token that opens nothing: 401 by the data interface, 400 by the two others (§7). */
const statusOfInvalid: Record<InterfaceName, number> = { data: 401, organization: 400, upload: 400 };

function statusWanted(operation: Operation, kind: Kind): number {
  if (kind === 'all' || kind === operation.scope) return 200;
  return scopes.includes(kind as Scope) ? 403 : statusOfInvalid[operation.interface];
}

const everything = (only: (operation: Operation) => boolean = () => true) =>
  operations.filter(only).map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

describe.each(everything())('%s', (_, operation) => {
  test('answers each kind of token of either account with its status', async () => {
    for (const side of ['one', 'other'] as const) {
      const answered: Record<string, number> = {};
      for (const kind of kinds) answered[kind] = (await ask(operation, sides[side].tokens[kind])).status;
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
      for (const kind of kinds) {
        const { status, text } = await ask(operation, sides[side].tokens[kind]);
        const words = status === 200 ? [foreign] : Object.values(names);
        expect([kind, words.filter((word) => text.includes(word))]).toEqual([kind, []]);
      }
    }
  });

  test('is served to several accounts at once, each its own', async () => {
    const asked = Array.from({ length: 20 }, (__, i) => (['one', 'other'] as const)[i % 2]!);
    const answers = await Promise.all(
      asked.map((side) => ask(operation, sides[side].account.token, organizationOf(names[side]))),
    );
    for (const [i, { status, text }] of answers.entries()) {
      expect([status, text.includes(names[asked[i] === 'one' ? 'other' : 'one'])]).toEqual([200, false]);
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
      const before = await stateOf(sides.other.account.id);
      const settings = { validateOnly: false };
      const changed = organizationOf('Changed');
      expect((await ask(operation, one.token, changed)).status).toBe(200);
      expect((await ask(operation, one.token, { settings, data: { users: [], groups: [] } })).status).toBe(
        200,
      );
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
      const { token } = sides.one.account;
      const [foreign, absent] = [
        await ask(operation, token, name(`${names.other}-top`)),
        await ask(operation, token, name('Nowhere-top')),
      ];
      expect([foreign.status, absent.status]).toEqual([400, 400]);
      const words = ({ answer }: typeof foreign) => JSON.stringify({ ...answer, id: '' });
      expect(words(foreign).replaceAll(names.other, 'Nowhere')).toBe(words(absent));
    },
  );
});

test('every operation of the contract is asked here, in every interface that has any', () => {
  expect(operations.length).toBeGreaterThanOrEqual(3);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
});
