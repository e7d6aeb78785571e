// Opening, closing and removing kinds of segments: what is refused, what is recorded, and in which order they are.
import { selectKinds } from './segments.sql.ts';
import { maxSegmentKinds } from '@soundings/contract/limits.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../accounts/accounts.ts';
import { inTransaction } from '../../db/db.ts';
import { defineAttribute, removeAttribute } from '../../people/attributes.changes.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { closeKind, type NewKind, openKind, removeKind } from './segments.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const actor = { origin: 'command' } as const;
const kind = (name: string, more: Partial<NewKind> = {}): NewKind => ({
  name,
  attribute: 'site',
  bands: null,
  crossOf: null,
  ...more,
});

const company = () =>
  inTransaction(database.pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Acme' });
    for (const name of ['site', 'born']) await defineAttribute(tx, id, { name, allowedValues: null });
    return id;
  });
const open = (id: number, wanted: NewKind) =>
  inTransaction(database.pool, (tx) => openKind(tx, id, actor, wanted));
const close = (id: number, kindId: number) =>
  inTransaction(database.pool, (tx) => closeKind(tx, id, actor, kindId));
const remove = (id: number, kindId: number) =>
  inTransaction(database.pool, (tx) => removeKind(tx, id, actor, kindId, async () => {}));

describe('opening a kind', () => {
  test('adds it after the others, with its bands or the kinds that it combines', async () => {
    const id = await company();
    const site = await open(id, kind(' Site '));
    const age = await open(id, kind('Age', { attribute: 'born', bands: [30, 50] }));
    await open(id, kind('Site and age', { attribute: null, crossOf: [site, age] }));
    expect(await selectKinds(database.pool, id)).toMatchObject([
      { id: site, name: 'Site', attribute: 'site', bands: null, crossOf: null, closedAt: null, segments: 0 },
      { id: age, name: 'Age', attribute: 'born', bands: [30, 50] },
      { name: 'Site and age', attribute: null, crossOf: [site, age] },
    ]);
  });

  test.each([
    ['an empty name', kind(' '), '/name'],
    ['an unknown attribute', kind('x', { attribute: 'shoe size' }), '/attribute'],
    ['neither an attribute nor a combination', kind('x', { attribute: null }), '/attribute'],
    ['no bands', kind('x', { bands: [] }), '/bands'],
    ['bands that do not ascend', kind('x', { bands: [40, 40] }), '/bands'],
    ['a band of 0 years', kind('x', { bands: [0, 40] }), '/bands'],
    ['a combination of a kind with itself', kind('x', { attribute: null, crossOf: [1, 1] }), '/crossOf'],
    ['a combination of unknown kinds', kind('x', { attribute: null, crossOf: [-1, -2] }), '/crossOf'],
  ])('is refused with %s, and says where', async (_, wanted, path) => {
    await expect(open(await company(), wanted)).rejects.toMatchObject({
      kind: 'invalid',
      details: [{ path }],
    });
  });

  test('is refused for a name that is open, and allowed for one that is closed', async () => {
    const id = await company();
    const first = await open(id, kind('Site'));
    await expect(open(id, kind('Site'))).rejects.toMatchObject({ code: 'segments taken' });
    await close(id, first);
    await open(id, kind('Site'));
    expect((await selectKinds(database.pool, id)).map(({ closedAt }) => closedAt === null)).toEqual([
      false,
      true,
    ]);
  });

  test('is refused for another one when as many are open as an account can have', async () => {
    const id = await company();
    for (let i = 0; i < maxSegmentKinds; i++) await open(id, kind(`k${i}`));
    await expect(open(id, kind('more'))).rejects.toMatchObject({ code: 'too many segments' });
    await close(id, (await selectKinds(database.pool, id))[0]!.id);
    await open(id, kind('more'));
  });

  test('can combine only open kinds of the same account that are not combinations', async () => {
    const [id, other] = [await company(), await company()];
    const [a, b, c] = [await open(id, kind('a')), await open(id, kind('b')), await open(id, kind('c'))];
    const theirs = await open(other, kind('theirs'));
    await close(id, c);
    const cross = await open(id, kind('cross', { attribute: null, crossOf: [a, b] }));
    for (const crossOf of [
      [a, c],
      [a, theirs],
      [a, cross],
    ] as [number, number][])
      await expect(open(id, kind('x', { attribute: null, crossOf }))).rejects.toMatchObject({
        kind: 'invalid',
      });
  });
});

test('a kind can be neither closed nor removed while a combination needs it, nor its attribute while it is open', async () => {
  const id = await company();
  const [a, b] = [await open(id, kind('a')), await open(id, kind('b', { attribute: 'born' }))];
  const cross = await open(id, kind('cross', { attribute: null, crossOf: [a, b] }));
  const removeSite = () => inTransaction(database.pool, (tx) => removeAttribute(tx, id, 'site'));
  for (const change of [close, remove])
    await expect(change(id, a)).rejects.toMatchObject({ code: 'segments combined' });
  await close(id, cross);
  await expect(remove(id, a)).rejects.toMatchObject({ code: 'segments combined' });
  await expect(removeSite()).rejects.toMatchObject({ code: 'segments open' });
  await close(id, a);
  expect(await removeSite()).toBe(0);
  await remove(id, cross);
  await remove(id, a);
  expect((await selectKinds(database.pool, id)).map(({ name }) => name)).toEqual(['b']);
});

test('every change is recorded in the audit log', async () => {
  const id = await company();
  const one = await open(id, kind('Site', { bands: [5] }));
  await close(id, one);
  await close(id, one); // has no effect
  await remove(id, one);
  const entries = await database.pool`
    select action, subject, details from audit_entries where account_id = ${id} and action like 'segments %'
    order by entry_id`;
  expect([...entries]).toEqual([
    { action: 'segments opened', subject: 'Site', details: { attribute: 'site', bands: [5], crossOf: null } },
    { action: 'segments closed', subject: 'Site', details: {} },
    { action: 'segments removed', subject: 'Site', details: {} },
  ]);
  await expect(remove(id, one)).rejects.toMatchObject({ code: 'segments not found' });
});
