// Shared by the tests of pushes, as one request and in parts: lists, their outcomes, and connections that are cut.
import fc from 'fast-check';
import { person, unit } from '@soundings/server/src/testing/organizations.ts';
import type { World } from '@soundings/server/src/testing/world.ts';
import type { Cut } from './cutting-proxy.fixture.ts';
import type { OrganizationList, User } from './list-parts.ts';

export const twoUsers = {
  users: [person('u1'), person('u2')],
  groups: [unit('g')],
} satisfies OrganizationList;

export const usersFrom = (count: number, from = 0): User[] =>
  Array.from({ length: count }, (_, i) => person(`u${from + i}`));

export const neverAsked = (): never => {
  throw new Error('approve was called.');
};

/** Returns the outcomes of the runs of an account, oldest first. */
export async function outcomesOf({ pool }: World, accountId: number): Promise<string[]> {
  const rows = await pool<{ outcome: string }[]>`
    select outcome from runs where account_id = ${accountId} order by at, run_id`;
  return rows.map(({ outcome }) => outcome);
}

/** Up to `most` connections, each of which may be cut after at most `bytes` bytes. */
export const anyCuts = (bytes: number, most: number): fc.Arbitrary<Cut[]> => {
  const anyCut = fc.option(
    fc.record({ bytes: fc.integer({ min: 0, max: bytes }), how: fc.constantFrom('reset', 'close') }),
    { nil: undefined },
  ) as fc.Arbitrary<Cut>;
  return fc.array(anyCut, { maxLength: most });
};

/** Uses a new connection for each request. */
export const onNewConnection: typeof fetch = (input, init) =>
  fetch(input, { ...init, headers: { ...(init?.headers as object), connection: 'close' } });
