// Any interleaving of what a directory writes, pushes, and runs that are killed in the middle: no source changes what belongs to the other
// one, and in the end the people are what both have sent.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { approveRun } from '../../files/approval.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import { cases } from '../../testing/house/cases.ts';
import { openPool } from '../../db/db.ts';
import {
  directoryRuns,
  openDirectory,
  patchOf,
  peopleOf,
  type TestDirectory,
  userOf,
  useService,
  world,
} from '../scim.fixture.ts';
import { applyDirectory } from './apply.ts';
import { refuseOutdated } from './removals.ts';

useService();

const slots = fc.integer({ min: 0, max: 7 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('create' as const), slot: slots }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('rename' as const), slot: slots }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('deactivate' as const, 'activate' as const), slot: slots }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), slot: slots }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('push' as const), slots: fc.uniqueArray(slots) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('apply' as const), minutes: fc.constantFrom(0, 5, 30) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('kill' as const), minutes: fc.constantFrom(0, 30) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** What the directory has written, by slot. */
type Written = Map<number, { id: string; name: string; active: boolean }>;

async function write(
  directory: TestDirectory,
  written: Written,
  one: Exclude<Step, { do: 'push' | 'apply' | 'kill' }>,
) {
  const user = written.get(one.slot);
  if (one.do === 'create') {
    if (user) return;
    const name = `u${one.slot}`;
    written.set(one.slot, { id: await directory.create('Users', userOf(name)), name, active: true });
  } else if (user && one.do === 'delete') {
    await directory.send('DELETE', `/Users/${user.id}`);
    written.delete(one.slot);
  } else if (user && one.do === 'rename') {
    user.name = `${user.name}x`;
    await directory.send(
      'PATCH',
      `/Users/${user.id}`,
      patchOf({ op: 'replace', path: 'name.givenName', value: user.name }),
    );
  } else if (user) {
    user.active = one.do === 'activate';
    await directory.send(
      'PATCH',
      `/Users/${user.id}`,
      patchOf({ op: 'Replace', path: 'active', value: String(user.active) }),
    );
  }
}

/** Applies the directory over a connection that the database ends in the middle of the transaction. */
async function killedApply({ account }: TestDirectory, minutes: number): Promise<void> {
  const pool = openPool(world.databaseUrl, 1);
  const now = Date.now() + minutes * 60_000;
  await applyDirectory(pool, account.id, now, async (tx) => {
    const [own] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
    await world.pool`select pg_terminate_backend(${own!.pid}, 5000)`;
  }).catch(() => {});
  await pool.end({ timeout: 1 });
}

test('every order ends in the same people', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const directory = await openDirectory();
      const { id: accountId } = directory.account;
      const written: Written = new Map();
      let pushed: number[] = [];
      const ofSource = async (source: string) =>
        Object.values(await peopleOf(accountId)).filter(({ bySource }) => bySource === source);
      for (const one of steps) {
        if (one.do === 'push') {
          const users = one.slots.map((slot) => ({
            externalId: `p${slot}`,
            firstName: `p${slot}`,
            lastName: 'Pushed',
          }));
          const { status } = await directory.account.push({
            settings: { validateOnly: false },
            data: { users },
          });
          pushed = status === 200 ? one.slots : [-1];
        } else if (one.do === 'apply') await directory.apply(one.minutes);
        else if (one.do === 'kill') await killedApply(directory, one.minutes);
        else await write(directory, written, one);
        // Pushed people are always those of the last push.
        expect((await ofSource('push')).map(({ name }) => name).toSorted()).toEqual(
          pushed.map((slot) => `p${slot}`).toSorted(),
        );
      }
      for (let i = 1; i <= 3; i++) {
        await directory.apply(10_000 * i);
        const pending = (await directoryRuns(accountId)).find(({ outcome }) => outcome === 'pending');
        if (pending)
          await approveRun(world.pool, accountId, pending.id, { deleteGroupResults, refuseOutdated });
      }
      const people = (await ofSource('scim')).map(({ name, active }) => [name, active]);
      expect(people.toSorted()).toEqual(
        [...written.values()].map(({ name, active }) => [name, active]).toSorted(),
      );
      const waiting =
        await world.pool`select from scim_users where account_id = ${accountId} and changes <> applied`;
      expect(waiting).toHaveLength(0);
    }),
    cases(12),
  );
});

test('a killed run leaves nothing, and the next one does everything once', async () => {
  const directory = await openDirectory();
  for (const name of ['a', 'b', 'c']) await directory.create('Users', userOf(name));
  await killedApply(directory, 0);
  expect([await peopleOf(directory.account.id), await directoryRuns(directory.account.id)]).toEqual([{}, []]);
  await directory.apply();
  await directory.apply();
  expect(Object.keys(await peopleOf(directory.account.id))).toHaveLength(3);
  expect(await directoryRuns(directory.account.id)).toHaveLength(1);
});
