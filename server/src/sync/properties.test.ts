// What holds for any organization and any sequence of requests and edits by hand. What should come out is told by
// `expected`, a plain reading of the decisions (B3, B6 to B12) that shares nothing with the code it judges.
import {
  type MembershipKind,
  membershipKinds,
  type Report,
  type Role,
  type Settings,
} from '@soundings/contract/organization.ts';
import { organizationRoles } from '@soundings/contract/shared-values.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import { inTransaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { createUser } from '../people/users.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { rowsOf } from '../testing/organizations.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { pushOrganization } from './sync.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

// --- The model. A group or user is known by m: and its externalId when it is managed, else by h: and its name.

type Ref = string;
type GroupState = {
  managed: boolean;
  externalId: string | null;
  name: string;
  description: string | null;
  parent: Ref | null;
};
type Entries = Record<MembershipKind, Ref[]>;
type UserState = {
  managed: boolean;
  externalId: string | null;
  firstName: string;
  lastName: string;
  email: string | null;
  phone: string | null;
  active: boolean;
  timezone: string | null;
  language: string | null;
  role: Role;
  attributes: Record<string, string>;
  entries: Entries;
};
type State = { groups: Record<Ref, GroupState>; users: Record<Ref, UserState> };

type SentGroup = { externalId: string; name: string; description?: string | null; parent?: string | null };
type SentUser = {
  externalId: string;
  firstName: string;
  lastName: string;
  email?: string | null;
  phone?: string | null;
  active?: boolean;
  timezone?: string;
  language?: string;
  accessInfo?: { [kind in MembershipKind]?: string[] } & { role?: Role };
  externalProperties?: Record<string, string | null>;
};
type Request = { settings: Settings; data: { groups?: SentGroup[]; users?: SentUser[] } };

const managed = (externalId: string): Ref => `m:${externalId}`;

/** What the request should make of the state, or 'refused'. */
function expected(before: State, { settings, data }: Request): State | 'refused' {
  const listed = new Set(data.groups?.map(({ externalId }) => managed(externalId)));
  const goes = (ref: Ref) => data.groups !== undefined && before.groups[ref]!.managed && !listed.has(ref);
  /** The nearest group that stays, from this one up. */
  const staying = (ref: Ref | null): Ref | null =>
    ref !== null && goes(ref) ? staying(before.groups[ref]!.parent) : ref;
  /** The group that a request means by an externalId. */
  const named = (externalId: string): Ref | undefined => {
    const hand = Object.entries(before.groups).find(([, g]) => !g.managed && g.externalId === externalId);
    if (hand) return hand[0];
    const ref = managed(externalId);
    const there = data.groups ? listed.has(ref) : ref in before.groups;
    return there ? ref : undefined;
  };

  const after: State = { groups: {}, users: {} };
  for (const [ref, group] of Object.entries(before.groups)) {
    if (!goes(ref)) after.groups[ref] = { ...group, parent: staying(group.parent) };
  }
  const saysTree = data.groups?.some((group) => 'parent' in group) ?? false;
  for (const { externalId, name, description, parent } of data.groups ?? []) {
    const ref = managed(externalId);
    if (named(externalId) !== ref) return 'refused'; // one made by hand has it
    const old = after.groups[ref];
    const above = typeof parent === 'string' ? named(parent) : null;
    if (above === undefined) return 'refused';
    after.groups[ref] = {
      managed: true,
      externalId,
      name,
      description: description === undefined ? (old?.description ?? null) : description,
      parent: saysTree ? above : (old?.parent ?? null),
    };
  }
  for (const ref of Object.keys(after.groups)) {
    let steps = 0;
    for (let at: Ref | null = ref; at !== null; at = after.groups[at]!.parent) {
      if (++steps > Object.keys(after.groups).length) return 'refused'; // a cycle
    }
  }

  for (const [ref, user] of Object.entries(before.users)) {
    if (user.managed && data.users) continue;
    after.users[ref] = withEntries(user, (entries) => entries.filter((group) => !goes(group)));
  }
  for (const sent of data.users ?? []) {
    const user = expectedUser(before.users[managed(sent.externalId)], sent, settings, goes, named, before);
    if (!user) return 'refused';
    after.users[managed(sent.externalId)] = user;
  }
  const taken = Object.values(after.users).map(({ externalId }) => externalId);
  const addresses = Object.values(after.users).flatMap(({ email }) => email?.toLowerCase() ?? []);
  const refused = hasTwice(taken.filter((id) => id !== null)) || hasTwice(addresses);
  return refused || exceeds(before, after, settings) ? 'refused' : after;
}

function expectedUser(
  old: UserState | undefined,
  sent: SentUser,
  { forceSetLanguage }: Settings,
  goes: (group: Ref) => boolean,
  named: (externalId: string) => Ref | undefined,
  before: State,
): UserState | undefined {
  const { externalId, firstName, lastName, accessInfo = {} } = sent;
  const attributes = { ...old?.attributes };
  for (const [name, value] of Object.entries(sent.externalProperties ?? {})) {
    if (value === null) delete attributes[name];
    else attributes[name] = value;
  }
  const languageSent = old && !forceSetLanguage ? undefined : sent.language;
  const user: UserState = {
    managed: true,
    externalId,
    firstName,
    lastName,
    email: sent.email === undefined ? (old?.email ?? null) : sent.email,
    phone: sent.phone === undefined ? (old?.phone ?? null) : (sent.phone?.replaceAll(/[ ()-]/g, '') ?? null),
    active: sent.active ?? true,
    timezone: sent.timezone ?? null,
    language: languageSent ?? old?.language ?? null,
    role: accessInfo.role ?? old?.role ?? 'User',
    attributes,
    entries: { memberOf: [], adminOf: [], inheritedAdminOf: [], interestOf: [] },
  };
  for (const kind of membershipKinds) {
    const stay = (old?.entries[kind] ?? []).filter((group) => !goes(group));
    const wanted = accessInfo[kind]?.map(named);
    if (wanted?.includes(undefined)) return undefined;
    const byHand = stay.filter((group) => before.groups[group]?.managed === false);
    user.entries[kind] = wanted ? unique([...byHand, ...(wanted as Ref[])]) : stay;
  }
  return user;
}

function withEntries(user: UserState, change: (entries: Ref[]) => Ref[]): UserState {
  const entries = membershipKinds.map((kind) => [kind, change(user.entries[kind])]);
  return { ...user, entries: Object.fromEntries(entries) as Entries };
}

/** Of each kind, what came, what differs and what went, of all that is managed. */
function changesBetween(before: State, after: State) {
  const of = <T extends { managed: boolean }>(old: Record<Ref, T>, now: Record<Ref, T>) => {
    const refs = (all: Record<Ref, T>) => Object.keys(all).filter((ref) => all[ref]!.managed);
    const both = refs(now).filter((ref) => ref in old);
    return {
      created: refs(now).length - both.length,
      updated: both.filter((ref) => JSON.stringify(sorted(old[ref]!)) !== JSON.stringify(sorted(now[ref]!)))
        .length,
      deleted: refs(old).length - both.length,
    };
  };
  return { users: of(before.users, after.users), groups: of(before.groups, after.groups) };
}

/** In tests of limits only deletions are limited: what counts as an update is told by rules.test.ts. */
function exceeds(
  before: State,
  after: State,
  { maxUsersDeleted = 200, maxGroupsDeleted = 200 }: Settings,
): boolean {
  const { users, groups } = changesBetween(before, after);
  return users.deleted > maxUsersDeleted || groups.deleted > maxGroupsDeleted;
}

const unique = <T>(list: T[]): T[] => [...new Set(list)].toSorted();
const hasTwice = (list: unknown[]) => new Set(list).size < list.length;
const sorted = (value: object): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ),
  );

// --- The state as it is.

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

/** Users made by hand, whole, and groups made by hand but for their place, which a removal may change. */
async function rowsByHand(accountId: number): Promise<unknown[]> {
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

// --- Requests and edits by hand. Numbers stand for groups and users that are there when their turn comes.

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
  saysTree: fc.boolean(),
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
      beneath: orNull(index),
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
);

const pick = <T>(list: T[], at: number): T | undefined => list[at % (list.length || 1)];
type Defined<T> = { [key in keyof T]?: Exclude<T[key], undefined> };
const defined = <T extends object>(object: T): Defined<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;

/** The request that a plan comes to in a given state: mostly one that fits it, now and then one that does not. */
function requestOf(plan: PushPlan, state: State): Request {
  const byHand = Object.values(state.groups).flatMap((group) =>
    !group.managed && group.externalId !== null ? [group.externalId] : [],
  );
  // A different order each time, so that what was beneath comes above: 7 is prime.
  const rank = (id: number) => (id * plan.order) % 7;
  const groups = plan.groups?.map(({ id, name, description, parent, wild }): SentGroup => {
    const fitting = (plan.groups ?? [])
      .filter((other) => rank(other.id) < rank(id))
      .map((other) => `g${other.id}`);
    const any = ['g0', 'g1', 'g2', 'nowhere', `g${id}`];
    const above = typeof parent === 'number' ? pick(wild ? any : [...fitting, ...byHand], parent) : parent;
    const externalId = wild && id === 0 ? (byHand[0] ?? 'g0') : `g${id}`;
    return defined({ externalId, name, description, parent: plan.saysTree ? above : undefined }) as SentGroup;
  });
  const targets = [
    ...(groups?.map(({ externalId }) => externalId) ??
      Object.values(state.groups).flatMap((group) => (group.managed ? [group.externalId as string] : []))),
    ...byHand,
  ];
  const users = plan.users?.map(({ wild, ...user }): SentUser => {
    const named = (at: number) => (wild ? 'nowhere' : pick(targets, at));
    const kinds = membershipKinds.map((kind) => [kind, user.access?.[kind]?.map(named).filter((one) => one)]);
    // The addresses go round among the users from push to push.
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

/** An account with an administrator made by hand and two attributes. */
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

/** A push may have given the externalId or address to somebody: then nothing is made by hand. */
async function unlessTaken(making: Promise<number>): Promise<void> {
  await making.catch((error: unknown) => {
    if (!(error instanceof Fault) || error.kind !== 'conflict') throw error;
  });
}

/** Makes a group or user by hand, or puts a managed user into a group made by hand. */
async function editByHand(
  accountId: number,
  step: Exclude<typeof stepPlan extends fc.Arbitrary<infer T> ? T : never, PushPlan>,
): Promise<void> {
  const { groups, users } = await idsOf(accountId);
  if (step.kind === 'group') {
    const count = groups.filter((group) => !group.managed).length;
    const parentId = step.beneath === null ? undefined : pick(groups, step.beneath)?.id;
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

/** Pushes a request as it should end, and asserts everything that must hold then. */
async function pushAndCheck(accountId: number, request: Request): Promise<'applied' | 'refused'> {
  const before = await stateOf(accountId);
  const wanted = expected(before, request);
  if (wanted === 'refused') await checkRefused(accountId, request);
  else await checkApplied(accountId, request, before, wanted);
  return wanted === 'refused' ? 'refused' : 'applied';
}

/** Dry and real alike are refused, and not a row is written. */
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
  const byHand = await rowsByHand(accountId);

  const dry = reportOf(await push(accountId, request, true));
  expect(dry).toMatchObject({ validateOnly: true, applied: false });
  expect(await rowsOf(database.pool, accountId)).toEqual(rows);

  const real = reportOf(await push(accountId, request, false));
  expect(real).toMatchObject({ validateOnly: false, applied: true });
  expect({ ...dry, id: '', validateOnly: false, applied: true }).toEqual({ ...real, id: '' });
  expect(await stateOf(accountId)).toEqual(wanted);
  expect(await rowsByHand(accountId)).toEqual(byHand);
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

describe('for any organization', () => {
  test('and any pushes and edits by hand: the state is the one sent, dry runs tell the truth, nothing made by hand is lost', async () => {
    const outcomes = { applied: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(stepPlan, { minLength: 3, maxLength: 5 }), async (steps) => {
        const accountId = await newAccount();
        for (const step of steps) {
          if (step.kind !== 'push') await editByHand(accountId, step);
          else outcomes[await pushAndCheck(accountId, requestOf(step, await stateOf(accountId)))]++;
        }
      }),
      { numRuns: 150 },
    );
    // The requests are worth something only if most of them fit.
    expect(outcomes.applied).toBeGreaterThan(150);
    expect(outcomes.refused).toBeGreaterThan(5);
  }, 180_000);

  const faults: Record<string, (request: Request) => unknown> = {
    'an unknown parent': ({ data }) =>
      add(data, 'groups', { externalId: 'new', name: 'New', parent: 'nowhere' }),
    'a group beneath itself': ({ data }) =>
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
    'the address of somebody made by hand': ({ data }) =>
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
    'one change too many': ({ settings, data }) => {
      Object.assign(settings, { maxUsersCreated: 0 });
      add(data, 'users', { externalId: 'new', firstName: 'A', lastName: 'B' });
    },
  };
  function add(data: Record<string, unknown[] | undefined>, kind: 'groups' | 'users', one: object): void {
    data[kind] = [...(data[kind] ?? []), one];
  }

  test('and any request with a fault: it is refused, dry and real alike, and not a row is written', async () => {
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
      { numRuns: 150 },
    );
    expect(checked).toBeGreaterThanOrEqual(150);
  });
});
