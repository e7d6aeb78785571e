// Guarantees for any organization and any sequence of requests and manual edits, compared with an independent implementation of
// the decisions (properties.fixture.ts).
import type { Report } from '@soundings/contract/organization.ts';
import { type MembershipKind, membershipKinds } from '@soundings/contract/people/memberships.ts';
import { organizationRoles } from '@soundings/contract/people/roles.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { inTransaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { createUser } from '../people/users.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { cases } from '../testing/house/cases.ts';
import { rowsOf } from '../testing/organizations.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { pushOrganization } from './push.ts';
import {
  changesBetween,
  type Entries,
  expected,
  type GroupState,
  type Ref,
  type Request,
  type SentGroup,
  type SentUser,
  type State,
  unique,
  type UserState,
} from './properties.fixture.ts';
import * as fc from 'fast-check';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

// --- The stored state.

async function stateOf(accountId: number): Promise<State> {
  const groups = await database.pool<(GroupState & { ref: Ref })[]>`
    select case when g.managed then 'm:' || g.external_id else 'h:' || g.name end as "ref",
           g.managed, g.external_id as "externalId", g.name, g.description,
           case when p.managed then 'm:' || p.external_id else 'h:' || p.name end as "parent"
    from   groups g
    left   join groups p on p.account_id = g.account_id and p.group_id = g.parent_id
    where  g.account_id = ${accountId}`;
  const users = await database.pool<(Omit<UserState, 'entries'> & { ref: Ref; id: number })[]>`
    select case when managed then 'm:' || external_id else 'h:' || first_name end as "ref", user_id as "id",
           managed, external_id as "externalId", first_name as "firstName", last_name as "lastName", email, phone,
           active, timezone, language, role, attributes
    from   users
    where  account_id = ${accountId}`;
  const memberships = await database.pool<{ id: number; kind: MembershipKind; ref: Ref }[]>`
    select m.user_id as "id", m.kind, case when g.managed then 'm:' || g.external_id else 'h:' || g.name end as "ref"
    from   memberships m
    join   groups g using (account_id, group_id)
    where  m.account_id = ${accountId}`;
  const entriesOf = (userId: number) => {
    const of = (kind: MembershipKind) =>
      unique(memberships.filter((one) => one.id === userId && one.kind === kind).map(({ ref }) => ref));
    return Object.fromEntries(membershipKinds.map((kind) => [kind, of(kind)])) as Entries;
  };
  return {
    groups: Object.fromEntries(groups.map(({ ref, ...group }) => [ref, group])),
    users: Object.fromEntries(
      users.map(({ ref, id, ...user }) => [ref, { ...user, entries: entriesOf(id) }]),
    ),
  };
}

/** Returns manual users, and manual groups without their parent, which a removal can change. */
async function manualRows(accountId: number): Promise<unknown[]> {
  return [
    ...(await database.pool`
      select 'user ' || xmin || ' ' || to_jsonb(u) as row
      from   users u where account_id = ${accountId} and not managed order by user_id`),
    ...(await database.pool`
      select 'group ' || (to_jsonb(g) - 'parent_id')::text as row
      from   groups g where account_id = ${accountId} and not managed order by group_id`),
  ];
}

type Outcome = { report: Report } | { details: Detail[] };

async function push(accountId: number, request: Request, validateOnly: boolean): Promise<Outcome> {
  const body = { ...request, settings: { ...request.settings, validateOnly } };
  const run = { id: newId(), source: 'api' as const, tokenId: null, address: null, file: null };
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  try {
    return {
      report: await pushOrganization(
        database.pool,
        accountId,
        run,
        { bytes, gzip: false },
        { deleteGroupResults },
      ),
    };
  } catch (error) {
    if (error instanceof Fault && error.kind === 'invalid') return { details: error.details };
    throw error;
  }
}

// --- Requests and manual edits. Numbers refer to groups and users that exist at the time of the step.

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const seldom = (oneIn: number) => fc.integer({ min: 1, max: oneIn }).map((n) => n === oneIn);
const index = fc.nat(30);

const groupPlan = fc.record({
  id: fc.nat(6),
  name: fc.constantFrom('North', 'South', 'Ö'),
  description: maybe(orNull(fc.constantFrom('', 'Old', 'New'))),
  parent: maybe(orNull(index)),
  wild: seldom(60),
});
const userPlan = fc.record({
  id: fc.nat(5),
  firstName: fc.constantFrom('Anna', 'Bo'),
  lastName: fc.constantFrom('X', 'Y'),
  email: maybe(orNull(fc.nat(3))),
  upper: fc.boolean(),
  phone: maybe(orNull(fc.constantFrom('+46701234567', '+46 70-123 45 67', '+1 (201) 555-0123'))),
  active: maybe(fc.boolean()),
  timezone: maybe(fc.constantFrom('Europe/Oslo', 'Asia/Calcutta')),
  language: maybe(fc.constantFrom('sv', 'nb', 'de')),
  access: maybe(
    fc.record({
      role: maybe(fc.constantFrom(...organizationRoles)),
      ...(Object.fromEntries(
        membershipKinds.map((kind) => [kind, maybe(fc.array(index, { maxLength: 3 }))]),
      ) as Record<MembershipKind, fc.Arbitrary<number[] | undefined>>),
    }),
  ),
  gender: maybe(orNull(fc.constantFrom('Male', 'Female'))),
  town: maybe(orNull(fc.constantFrom('', 'Umeå'))),
  wild: seldom(60),
});
const pushPlan = fc.record({
  kind: fc.constant('push' as const),
  groups: maybe(fc.uniqueArray(groupPlan, { selector: ({ id }) => id, maxLength: 7 })),
  users: maybe(fc.uniqueArray(userPlan, { selector: ({ id }) => id, maxLength: 6 })),
  hasTree: fc.boolean(),
  order: fc.integer({ min: 1, max: 6 }),
  emails: fc.integer({ min: 1, max: 5 }),
  force: maybe(fc.boolean()),
  maxDeleted: maybe(fc.constantFrom(1, 3, 100)),
});
type PushPlan = typeof pushPlan extends fc.Arbitrary<infer T> ? T : never;

const stepPlan = fc.oneof(
  { weight: 5, arbitrary: pushPlan },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('group' as const),
      named: fc.boolean(),
      parent: orNull(index),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('user' as const),
      named: fc.boolean(),
      memberOf: fc.array(index),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('join' as const), user: index, group: index }),
  },
  // An earlier request of the account, byte for byte.
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('again' as const), request: index }) },
);

const pick = <T>(list: T[], at: number): T | undefined => list[at % (list.length || 1)];
type Defined<T> = { [key in keyof T]?: Exclude<T[key], undefined> };
const defined = <T extends object>(object: T): Defined<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;

/** Returns the request of a plan for a given state. Most requests are valid for the state, a few are not. */
function requestOf(plan: PushPlan, state: State): Request {
  const manualIds = Object.values(state.groups).flatMap((group) =>
    !group.managed && group.externalId !== null ? [group.externalId] : [],
  );
  // A different order each time, so that subgroups become parents. 7 is prime.
  const rank = (id: number) => (id * plan.order) % 7;
  const groups = plan.groups?.map(({ id, name, description, parent, wild }): SentGroup => {
    const fitting = (plan.groups ?? [])
      .filter((other) => rank(other.id) < rank(id))
      .map((other) => `g${other.id}`);
    const any = ['g0', 'g1', 'g2', 'nowhere', `g${id}`];
    const parentId =
      typeof parent === 'number' ? pick(wild ? any : [...fitting, ...manualIds], parent) : parent;
    const externalId = wild && id === 0 ? (manualIds[0] ?? 'g0') : `g${id}`;
    return defined({
      externalId,
      name,
      description,
      parent: plan.hasTree ? parentId : undefined,
    }) as SentGroup;
  });
  const targets = [
    ...(groups?.map(({ externalId }) => externalId) ??
      Object.values(state.groups).flatMap((group) => (group.managed ? [group.externalId as string] : []))),
    ...manualIds,
  ];
  const users = plan.users?.map(({ wild, ...user }): SentUser => {
    const named = (at: number) => (wild ? 'nowhere' : pick(targets, at));
    const kinds = membershipKinds.map((kind) => [kind, user.access?.[kind]?.map(named).filter((one) => one)]);
    // The addresses move to other users with each push.
    const email =
      typeof user.email === 'number'
        ? `u${wild ? user.email : (user.id + plan.emails) % 6}@example.org`
        : user.email;
    return defined({
      externalId: wild && user.id === 0 ? 'hand 0' : `u${user.id}`,
      firstName: user.firstName,
      lastName: user.lastName,
      email: user.upper ? email?.toUpperCase() : email,
      phone: user.phone,
      active: user.active,
      timezone: user.timezone,
      language: user.language,
      accessInfo: user.access && defined({ role: user.access.role, ...Object.fromEntries(kinds) }),
      externalProperties: defined({ gender: user.gender, town: user.town }),
    }) as SentUser;
  });
  const settings = defined({
    forceSetLanguage: plan.force,
    maxUsersDeleted: plan.maxDeleted,
    maxGroupsDeleted: plan.maxDeleted,
  });
  return { settings, data: defined({ groups, users }) };
}

/** Creates an account with a manual administrator and two attributes. */
async function newAccount(): Promise<number> {
  return inTransaction(database.pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Test' });
    await createUser(tx, id, {
      firstName: 'Ada',
      lastName: 'Admin',
      email: 'ada@example.org',
      role: 'Administrator',
    });
    await defineAttribute(tx, id, { name: 'gender', allowedValues: ['Male', 'Female'] });
    await defineAttribute(tx, id, { name: 'town', allowedValues: null });
    return id;
  });
}

const idsOf = async (accountId: number) => {
  const groups = await database.pool<{ id: number; managed: boolean }[]>`
    select group_id as id, managed from groups where account_id = ${accountId} order by group_id`;
  const users = await database.pool<{ id: number; managed: boolean }[]>`
    select user_id as id, managed from users where account_id = ${accountId} order by user_id`;
  return { groups, users };
};

/** Ignores that the externalId or address is taken because a push has given it to someone. */
async function unlessTaken(creation: Promise<number>): Promise<void> {
  await creation.catch((error: unknown) => {
    if (!(error instanceof Fault) || error.kind !== 'conflict') throw error;
  });
}

/** Creates a group or user manually, or adds a managed user to a manual group. */
async function editManually(
  accountId: number,
  step: Exclude<
    typeof stepPlan extends fc.Arbitrary<infer T> ? T : never,
    PushPlan | { kind: 'again'; request: number }
  >,
): Promise<void> {
  const { groups, users } = await idsOf(accountId);
  if (step.kind === 'group') {
    const count = groups.filter((group) => !group.managed).length;
    const parentId = step.parent === null ? undefined : pick(groups, step.parent)?.id;
    const group = {
      name: `Hand ${count}`,
      ...(step.named && { externalId: `hand ${count}` }),
      ...(parentId && { parentId }),
    };
    await unlessTaken(inTransaction(database.pool, (tx) => createGroup(tx, accountId, group)));
  } else if (step.kind === 'user') {
    const count = users.filter((user) => !user.managed).length - 1;
    const memberOf = step.memberOf.flatMap((at) => pick(groups, at)?.id ?? []);
    const user = {
      firstName: `Hand ${count}`,
      lastName: 'By',
      email: `hand${count}@example.org`,
      memberships: { memberOf },
      ...(step.named && { externalId: `hand ${count}` }),
    };
    await unlessTaken(inTransaction(database.pool, (tx) => createUser(tx, accountId, user)));
  } else {
    const user =
      pick(
        users.filter((one) => one.managed),
        step.user,
      )?.id ?? null;
    const group =
      pick(
        groups.filter((one) => !one.managed),
        step.group,
      )?.id ?? null;
    if (user === null || group === null) return;
    await database.pool`
      insert into memberships (account_id, user_id, kind, group_id)
      values (${accountId}, ${user}, 'memberOf', ${group}) on conflict do nothing`;
    await database.pool`
      update users set fingerprint = null where account_id = ${accountId} and user_id = ${user}`;
  }
}

/** Pushes a request and checks that it is applied or refused as expected. */
async function pushAndCheck(accountId: number, request: Request): Promise<'applied' | 'refused'> {
  const before = await stateOf(accountId);
  const wanted = expected(before, request);
  if (wanted === 'refused') await checkRefused(accountId, request);
  else await checkApplied(accountId, request, before, wanted);
  return wanted === 'refused' ? 'refused' : 'applied';
}

/** Checks that both the dry run and the real run are refused, and that no row is written. */
async function checkRefused(accountId: number, request: Request): Promise<void> {
  const rows = await rowsOf(database.pool, accountId);
  const dry = await push(accountId, request, true);
  const real = await push(accountId, request, false);
  expect(real).toEqual({ details: expect.any(Array) });
  expect('details' in real && real.details.length).toBeGreaterThan(0);
  expect(dry).toEqual(real);
  expect(await rowsOf(database.pool, accountId)).toEqual(rows);
}

async function checkApplied(accountId: number, request: Request, before: State, wanted: State) {
  const rows = await rowsOf(database.pool, accountId);
  const manual = await manualRows(accountId);

  const dry = reportOf(await push(accountId, request, true));
  expect(dry).toMatchObject({ validateOnly: true, applied: false });
  expect(await rowsOf(database.pool, accountId)).toEqual(rows);

  const real = reportOf(await push(accountId, request, false));
  expect(real).toMatchObject({ validateOnly: false, applied: true });
  expect({ ...dry, id: '', validateOnly: false, applied: true }).toEqual({ ...real, id: '' });
  expect(await stateOf(accountId)).toEqual(wanted);
  expect(await manualRows(accountId)).toEqual(manual);
  const { users, groups } = changesBetween(before, wanted);
  expect(real.summary.users).toMatchObject({ created: users.created, deleted: users.deleted });
  expect(real.summary.groups).toMatchObject(groups);

  const written = await rowsOf(database.pool, accountId);
  const again = reportOf(await push(accountId, request, false));
  expect(again.changes).toEqual([]);
  const unchanged = { created: 0, updated: 0, deleted: 0 };
  expect(again.summary).toEqual({
    users: { ...unchanged, unchanged: request.data.users?.length ?? 0 },
    groups: { ...unchanged, unchanged: request.data.groups?.length ?? 0 },
  });
  expect(await rowsOf(database.pool, accountId)).toEqual(written);
}

function reportOf(outcome: Outcome): Report {
  if ('report' in outcome) return outcome.report;
  throw new Error(`Refused: ${JSON.stringify(outcome.details)}`);
}

const runs = cases(50);

describe('any organization', () => {
  test('is stored as sent after any pushes and manual edits, dry runs report the same, and manual entries are kept', async () => {
    const outcomes = { applied: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(stepPlan, { minLength: 3, maxLength: 6 }), async (steps) => {
        const accountId = await newAccount();
        const sent: Request[] = [];
        for (const step of steps) {
          if (step.kind === 'again' && sent.length === 0) continue;
          if (step.kind === 'push') sent.push(requestOf(step, await stateOf(accountId)));
          if (step.kind === 'push') outcomes[await pushAndCheck(accountId, sent.at(-1)!)]++;
          else if (step.kind === 'again') await pushAndCheck(accountId, pick(sent, step.request)!);
          else await editManually(accountId, step);
        }
      }),
      runs,
    );
    // The test is useful only if most requests are valid, and some are not processed as a whole because they are the same as earlier ones.
    expect(outcomes.applied).toBeGreaterThan(runs.numRuns);
    expect(outcomes.refused).toBeGreaterThan(runs.numRuns / 30);
    const [repeated] = await database.pool<[{ count: number }]>`
      select count(*)::int as count
      from   runs r
      join   repeated_pushes p on p.account_id = r.account_id and p.run_id <> r.run_id and p.validate_only = r.validate_only
      where  r.at > (select at from runs f where f.account_id = p.account_id and f.run_id = p.run_id)
      and    r.summary::text = p.summary::text`;
    expect(repeated.count).toBeGreaterThanOrEqual(Math.floor(runs.numRuns / 50));
  });

  const faults: Record<string, (request: Request) => unknown> = {
    'an unknown parent': ({ data }) =>
      add(data, 'groups', { externalId: 'new', name: 'New', parent: 'nowhere' }),
    'a group that is its own parent': ({ data }) =>
      add(data, 'groups', { externalId: 'new', name: 'New', parent: 'new' }),
    'a cycle': ({ data }) => {
      add(data, 'groups', { externalId: 'new', name: 'New', parent: 'newer' });
      add(data, 'groups', { externalId: 'newer', name: 'Newer', parent: 'new' });
    },
    'the same group twice': ({ data }) => {
      for (let i = 0; i < 2; i++) add(data, 'groups', { externalId: 'new', name: 'New' });
    },
    'the same user twice': ({ data }) => {
      for (let i = 0; i < 2; i++) add(data, 'users', { externalId: 'new', firstName: 'A', lastName: 'B' });
    },
    'the same address twice': ({ data }) => {
      for (const [externalId, email] of [
        ['n1', 'x@example.org'],
        ['n2', 'X@example.org'],
      ] as const) {
        add(data, 'users', { externalId, firstName: 'A', lastName: 'B', email });
      }
    },
    'the address of a manual user': ({ data }) =>
      add(data, 'users', { externalId: 'new', firstName: 'A', lastName: 'B', email: 'Ada@Example.org' }),
    'an unknown group': ({ data }) =>
      add(data, 'users', {
        externalId: 'new',
        firstName: 'A',
        lastName: 'B',
        accessInfo: { adminOf: ['nowhere'] },
      }),
    'an unknown attribute': ({ data }) =>
      add(data, 'users', {
        externalId: 'new',
        firstName: 'A',
        lastName: 'B',
        externalProperties: { shoe: '43' },
      }),
    'a value that is not allowed': ({ data }) =>
      add(data, 'users', {
        externalId: 'new',
        firstName: 'A',
        lastName: 'B',
        externalProperties: { gender: 'x' },
      }),
    'a wrong type': ({ data }) => add(data, 'users', { externalId: 'new', firstName: 'A', lastName: 5 }),
    'a missing name': ({ data }) => add(data, 'groups', { externalId: 'new' }),
    'an unknown setting': ({ settings }) => Object.assign(settings, { maxUserCreated: 5 }),
    'a limit out of range': ({ settings }) => Object.assign(settings, { maxUsersCreated: 20_001 }),
    'one change above the limit': ({ settings, data }) => {
      Object.assign(settings, { maxUsersCreated: 0 });
      add(data, 'users', { externalId: 'new', firstName: 'A', lastName: 'B' });
    },
  };
  function add(data: Record<string, unknown[] | undefined>, kind: 'groups' | 'users', one: object): void {
    data[kind] = [...(data[kind] ?? []), one];
  }

  test('refuses any request with an error, both as a dry run and as a real run, and writes no row', async () => {
    let checked = 0;
    await fc.assert(
      fc.asyncProperty(
        pushPlan,
        pushPlan,
        fc.constantFrom(...Object.keys(faults)),
        async (first, next, name) => {
          const accountId = await newAccount();
          await push(accountId, requestOf(first, await stateOf(accountId)), false);
          const request = requestOf(next, await stateOf(accountId));
          faults[name]?.(request);
          await checkRefused(accountId, request);
          checked++;
        },
      ),
      runs,
    );
    expect(checked).toBeGreaterThanOrEqual(runs.numRuns);
  });
});
