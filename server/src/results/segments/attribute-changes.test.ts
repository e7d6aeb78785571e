// What the privacy report says about breakdowns: closed ones stay listed while they have figures, and values that change shortly before a
// week opens are counted.
import { addWeeks } from '@soundings/contract/weeks.ts';
import { expect, test } from 'vitest';
import { inTransaction } from '../../db/db.ts';
import { closeBreakdown, removeBreakdown } from '../../rounds/segments/breakdowns.ts';
import { askedWeek, noon } from '../../testing/asking.ts';
import { selectChangesBefore, selectReportedBreakdowns } from '../privacy/privacy-report.sql.ts';
import { deleteGroupResults } from '../published-figures.ts';
import {
  age,
  answerAll,
  close,
  open,
  openWeek,
  pool,
  site,
  type Staff,
  staff,
  useDatabase,
} from './segments.fixture.ts';

useDatabase();

const command = { origin: 'command' } as const;
const laterWeek = (acme: Staff, weeks: number) => openWeek(acme, noon + weeks * 7 * 86_400_000);
const changesOf = async (acme: Staff) => [...(await selectChangesBefore(pool, acme.id, 8))];

/** Changes an attribute of the first people, in one statement. */
const change = (acme: Staff, name: string, value: string, people = 1) => pool`
  update users set attributes = attributes || jsonb_build_object(${name}::text, ${value}::text)
  where  account_id = ${acme.id} and user_id = any(${acme.userIds.slice(0, people)})`;

test('a breakdown is listed while it is open or has figures, with its attributes and weeks', async () => {
  const acme = await staff();
  const first = await open(acme, site);
  const second = await open(acme, age);
  await open(acme, { name: 'Both', attribute: null, bands: null, crossOf: [second, first] });
  await openWeek(acme);
  await answerAll(acme);
  await close(acme);
  const unused = await open(acme, { ...site, name: 'Unused' });
  const third = await open(acme, { ...site, name: 'Place' });
  for (const id of [unused, third])
    await inTransaction(pool, (tx) => closeBreakdown(tx, acme.id, command, id));
  await pool`update breakdowns set closed_at = now() where account_id = ${acme.id} and breakdown_id = ${first}`;
  const figures = { weeks: 1, first: askedWeek, last: askedWeek };
  const [bySite, byAge] = [
    { attribute: 'site', bands: null },
    { attribute: 'born', bands: [40] },
  ];
  expect([...(await selectReportedBreakdowns(pool, acme.id))]).toMatchObject([
    { name: 'Site', by: [bySite], closedAt: expect.any(Date), ...figures },
    { name: 'Age', by: [byAge], closedAt: null, ...figures },
    { name: 'Both', by: [byAge, bySite], closedAt: null, weeks: 1 },
  ]);
  await laterWeek(acme, 1);
  await answerAll(acme, undefined, { week: addWeeks(askedWeek, 1) });
  await close(acme, addWeeks(askedWeek, 1));
  const [closed, still] = await selectReportedBreakdowns(pool, acme.id);
  expect([closed?.last, still?.last]).toEqual([askedWeek, addWeeks(askedWeek, 1)]);
});

test('values that change in the 7 days before a week opens are counted for each breakdown that uses them', async () => {
  const acme = await staff();
  const other = await staff();
  const first = await open(acme, site);
  const second = await open(acme, age);
  await open(acme, { name: 'Both', attribute: null, bands: null, crossOf: [first, second] });
  await open(other, site);
  // No move: the same value, another column, an attribute that no breakdown uses.
  await change(acme, 'site', 'Stockholm');
  await pool`update users set first_name = 'Q' where account_id = ${acme.id}`;
  await change(acme, 'shoe size', '40', 60);
  await openWeek(acme);
  const all = (ofSite: number, ofAge: number) => [
    { name: 'Site', changes: ofSite },
    { name: 'Age', changes: ofAge },
    { name: 'Both', changes: ofSite + ofAge },
  ];
  expect(await changesOf(acme)).toMatchObject(all(0, 0));

  await change(acme, 'site', 'Malmö');
  await change(acme, 'born', '1950-01-01', 20);
  await change(acme, 'site', 'Stockholm');
  await laterWeek(acme, 1);
  expect((await changesOf(acme)).slice(0, 3)).toMatchObject(all(2, 20));
  expect(await changesOf(other)).toEqual([]);

  // Changes eight days before are too old, and those before a month are deleted.
  await pool`update attribute_changes set day = day - 8 where account_id = ${acme.id} and attribute = 'site'`;
  await pool`update attribute_changes set day = day - 40 where account_id = ${acme.id} and attribute = 'born'`;
  await laterWeek(acme, 2);
  expect((await changesOf(acme)).slice(0, 3)).toMatchObject(all(0, 0));
  const left = await pool`select attribute from attribute_changes where account_id = ${acme.id}`;
  expect([...left]).toEqual([{ attribute: 'site' }]);
});

test('a breakdown that is closed while someone is moved counts the move, and one that is removed leaves nothing', async () => {
  const acme = await staff();
  const first = await open(acme, site);
  await inTransaction(pool, (tx) => closeBreakdown(tx, acme.id, command, first));
  await change(acme, 'site', 'Malmö');
  const again = await open(acme, site);
  await openWeek(acme);
  expect(await changesOf(acme)).toMatchObject([{ week: askedWeek, name: 'Site', changes: 1 }]);
  await inTransaction(pool, (tx) => removeBreakdown(tx, acme.id, command, again, deleteGroupResults));
  expect(await changesOf(acme)).toEqual([]);
});
