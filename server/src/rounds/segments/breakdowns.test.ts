// Opening, closing and removing breakdowns: what is refused, what is recorded, and how breakdowns are ordered.
import { selectBreakdowns } from './breakdowns.sql.ts';
import { maxBreakdowns } from '@soundings/contract/limits.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../../accounts/accounts.ts';
import { inTransaction } from '../../db/db.ts';
import { defineAttribute, removeAttribute } from '../../people/attributes.changes.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { closeBreakdown, type NewBreakdown, openBreakdown, removeBreakdown } from './breakdowns.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const actor = { origin: 'command' } as const;
const breakdown = (name: string, more: Partial<NewBreakdown> = {}): NewBreakdown => ({
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
const open = (id: number, wanted: NewBreakdown) =>
  inTransaction(database.pool, (tx) => openBreakdown(tx, id, actor, wanted));
const close = (id: number, breakdownId: number) =>
  inTransaction(database.pool, (tx) => closeBreakdown(tx, id, actor, breakdownId));
const remove = (id: number, breakdownId: number) =>
  inTransaction(database.pool, (tx) => removeBreakdown(tx, id, actor, breakdownId, async () => {}));

describe('opening a breakdown', () => {
  test('adds it after the others, with its bands or the breakdowns that it combines', async () => {
    const id = await company();
    const site = await open(id, breakdown(' Site '));
    const age = await open(id, breakdown('Age', { attribute: 'born', bands: [30, 50] }));
    await open(id, breakdown('Site and age', { attribute: null, crossOf: [site, age] }));
    expect(await selectBreakdowns(database.pool, id)).toMatchObject([
      { id: site, name: 'Site', attribute: 'site', bands: null, crossOf: null, closedAt: null, segments: 0 },
      { id: age, name: 'Age', attribute: 'born', bands: [30, 50] },
      { name: 'Site and age', attribute: null, crossOf: [site, age] },
    ]);
  });

  test.each([
    ['an empty name', breakdown(' '), '/name'],
    ['an unknown attribute', breakdown('x', { attribute: 'shoe size' }), '/attribute'],
    ['neither an attribute nor a combination', breakdown('x', { attribute: null }), '/attribute'],
    ['no bands', breakdown('x', { bands: [] }), '/bands'],
    ['bands that do not ascend', breakdown('x', { bands: [40, 40] }), '/bands'],
    ['a band of 0 years', breakdown('x', { bands: [0, 40] }), '/bands'],
    [
      'a combination of a breakdown with itself',
      breakdown('x', { attribute: null, crossOf: [1, 1] }),
      '/crossOf',
    ],
    [
      'a combination of unknown breakdowns',
      breakdown('x', { attribute: null, crossOf: [-1, -2] }),
      '/crossOf',
    ],
  ])('is refused with %s, and says where', async (_, wanted, path) => {
    await expect(open(await company(), wanted)).rejects.toMatchObject({
      kind: 'invalid',
      details: [{ path }],
    });
  });

  test('is refused for a name that is open, and allowed for one that is closed', async () => {
    const id = await company();
    const first = await open(id, breakdown('Site'));
    await expect(open(id, breakdown('Site'))).rejects.toMatchObject({ code: 'breakdown taken' });
    await close(id, first);
    await open(id, breakdown('Site'));
    expect((await selectBreakdowns(database.pool, id)).map(({ closedAt }) => closedAt === null)).toEqual([
      false,
      true,
    ]);
  });

  test('is refused for another one when as many are open as an account can have', async () => {
    const id = await company();
    for (let i = 0; i < maxBreakdowns; i++) await open(id, breakdown(`k${i}`));
    await expect(open(id, breakdown('more'))).rejects.toMatchObject({ code: 'too many breakdowns' });
    await close(id, (await selectBreakdowns(database.pool, id))[0]!.id);
    await open(id, breakdown('more'));
  });

  test('can combine only open breakdowns of the same account that are not combinations', async () => {
    const [id, other] = [await company(), await company()];
    const [a, b, c] = [
      await open(id, breakdown('a')),
      await open(id, breakdown('b')),
      await open(id, breakdown('c')),
    ];
    const theirs = await open(other, breakdown('theirs'));
    await close(id, c);
    const cross = await open(id, breakdown('cross', { attribute: null, crossOf: [a, b] }));
    for (const crossOf of [
      [a, c],
      [a, theirs],
      [a, cross],
    ] as [number, number][])
      await expect(open(id, breakdown('x', { attribute: null, crossOf }))).rejects.toMatchObject({
        kind: 'invalid',
      });
  });
});

test('a breakdown can be neither closed nor removed while a combination needs it, nor its attribute while it is open', async () => {
  const id = await company();
  const [a, b] = [await open(id, breakdown('a')), await open(id, breakdown('b', { attribute: 'born' }))];
  const cross = await open(id, breakdown('cross', { attribute: null, crossOf: [a, b] }));
  const removeSite = () => inTransaction(database.pool, (tx) => removeAttribute(tx, id, 'site'));
  for (const change of [close, remove])
    await expect(change(id, a)).rejects.toMatchObject({ code: 'breakdown combined' });
  await close(id, cross);
  await expect(remove(id, a)).rejects.toMatchObject({ code: 'breakdown combined' });
  await expect(removeSite()).rejects.toMatchObject({ code: 'breakdown open' });
  await close(id, a);
  expect(await removeSite()).toBe(0);
  await remove(id, cross);
  await remove(id, a);
  expect((await selectBreakdowns(database.pool, id)).map(({ name }) => name)).toEqual(['b']);
});

test('every change is recorded in the audit log', async () => {
  const id = await company();
  const one = await open(id, breakdown('Site', { bands: [5] }));
  await close(id, one);
  await close(id, one); // has no effect
  await remove(id, one);
  const entries = await database.pool`
    select action, subject, details from audit_entries where account_id = ${id} and action like 'breakdown %'
    order by entry_id`;
  expect([...entries]).toEqual([
    {
      action: 'breakdown opened',
      subject: 'Site',
      details: { attribute: 'site', bands: [5], crossOf: null },
    },
    { action: 'breakdown closed', subject: 'Site', details: {} },
    { action: 'breakdown removed', subject: 'Site', details: {} },
  ]);
  await expect(remove(id, one)).rejects.toMatchObject({ code: 'breakdown not found' });
});
