// The version of an account: every transaction that changes what responses of the data interface, or results pages of the console, depend on
// raises it. Caches and replicas rely on this.
import { beforeAll, expect, test } from 'vitest';
import { changeAccount } from './accounts/accounts.ts';
import { inTransaction, type Transaction } from './db/db.ts';
import { defineAttribute } from './people/attributes.changes.ts';
import { changeGroup, createGroup, moveGroup, removeGroup } from './people/groups.ts';
import { changeUser, createUser, removeUser } from './people/users.ts';
import { addQuestion, changeQuestion, retireQuestion, saveKpi } from './questions/questions.ts';
import { closeWeekNow } from './results/close-week.ts';
import { openCompany, useService, world } from './results/data/data.fixture.ts';
import { showLiveWeeks } from './results/live-week.ts';
import { computeAllStatistics } from './results/statistics/statistics.ts';
import { closeBreakdown, openBreakdown, removeBreakdown } from './rounds/segments/breakdowns.ts';
import { pauseSchedule, removeSchedule } from './rounds/schedules.ts';
import { askPeople, noon } from './testing/asking.ts';
import { versionedTables } from './testing/schema/versioned.ts';

useService();

/** Transactions that have changed a table without raising the version of the account. */
const faults = () => world.pool<{ fault: string }[]>`select distinct fault from unraised order by fault`;

beforeAll(async () => {
  const { pool } = world;
  await pool.unsafe(`
    create table unraised (fault text);
    create function note_version() returns trigger language plpgsql as $$ begin
      perform set_config('test.raised_' || new.account_id, pg_current_xact_id()::text, true);
      return new;
    end $$;
    create trigger note_created after insert on accounts for each row execute function note_version();
    create trigger note_raised after update of version on accounts for each row
      when (old.version <> new.version) execute function note_version();
    create function check_version() returns trigger language plpgsql as $$
    declare id integer := coalesce(new.account_id, old.account_id);
    begin
      if coalesce(current_setting('test.raised_' || id, true), '') <> pg_current_xact_id()::text then
        insert into unraised values (tg_table_name || ' ' || tg_op);
      end if;
      return null;
    end $$;`);
  for (const [table, columns] of Object.entries(versionedTables)) {
    if (columns?.length === 0) continue;
    const changed = columns?.map((one) => `old.${one}::text is distinct from new.${one}::text`).join(' or ');
    await pool.unsafe(`
      create constraint trigger check_rows after insert or delete on ${table} deferrable initially deferred
        for each row execute function check_version();
      create constraint trigger check_changes after update on ${table} deferrable initially deferred
        for each row ${changed === undefined ? '' : `when (${changed})`} execute function check_version();`);
  }
});

const inOne = <T>(work: (tx: Transaction) => Promise<T>) => inTransaction(world.pool, work);

test('a change of people, groups, questions, breakdowns and settings raises it', async () => {
  const { account, group, question } = await openCompany();
  const { id } = account;
  const user = await inOne((tx) =>
    createUser(tx, id, { firstName: 'Eva', memberships: { memberOf: [group['north']!] } }),
  );
  await inOne((tx) => changeUser(tx, id, user, { active: false }, 0));
  await inOne((tx) => changeUser(tx, id, user, { memberships: { adminOf: [group['south']!] } }, 0));
  await inOne((tx) => removeUser(tx, id, user, 0));
  const own = await inOne((tx) => createGroup(tx, id, { name: 'Own' }));
  await inOne((tx) => changeGroup(tx, id, own, { name: 'Renamed' }));
  await inOne((tx) => moveGroup(tx, id, own, { parentId: group['tech']!, from: null }));
  await inOne((tx) => removeGroup(tx, id, own, async () => {}));
  const body = {
    settings: { validateOnly: false },
    data: { users: [{ externalId: 'new', firstName: 'N', lastName: 'E' }] },
  };
  const pushed = await account.push(body);
  expect([pushed.status, pushed.body.message]).toEqual([200, undefined]);
  const texts = { text: 'New?', translations: {}, options: [], allowsNotApplicable: false };
  const added = await inOne((tx) => addQuestion(tx, id, { key: 'new', type: 1, language: 'en', ...texts }));
  await inOne((tx) => changeQuestion(tx, id, added, { ...texts, text: 'Newer?' }));
  await inOne((tx) => retireQuestion(tx, id, added, true));
  const kpi = {
    id: 'more',
    name: 'More',
    language: 'en',
    translations: {},
    imageUrl: null,
    questionIds: [question['mood']!],
  };
  await inOne((tx) => saveKpi(tx, id, kpi as never, true));
  await inOne((tx) => changeAccount(tx, id, { managerComparisons: ['company'] }));
  await inOne((tx) => defineAttribute(tx, id, { name: 'site', allowedValues: null }));
  const of = { name: 'Site', attribute: 'site', bands: null, crossOf: null };
  const breakdown = await inOne((tx) => openBreakdown(tx, id, { origin: 'command' }, of));
  await inOne((tx) => closeBreakdown(tx, id, { origin: 'command' }, breakdown));
  await inOne((tx) => removeBreakdown(tx, id, { origin: 'command' }, breakdown, async () => {}));
  expect(await faults()).toEqual([]);
});

test('a week that opens, is shown, closes and gets its statistics raises it', async () => {
  const account = await world.account();
  await inOne((tx) => changeAccount(tx, account.id, { publication: 'live' } as never));
  const asked = await askPeople(world, account.id, { count: 12, now: noon });
  await showLiveWeeks(world.pool, world.keys);
  await closeWeekNow(world.pool, world.keys, account.id, asked.week, noon);
  await computeAllStatistics(world.pool);
  await inOne((tx) => pauseSchedule(tx, account.id, asked.scheduleId, true));
  await inOne((tx) => removeSchedule(tx, account.id, asked.scheduleId));
  expect(await faults()).toEqual([]);
});

test('the check itself finds a change that does not raise it', async () => {
  const account = await world.account();
  await world.pool`insert into groups (account_id, managed, name) values (${account.id}, false, 'Silent')`;
  expect(await faults()).toEqual([{ fault: 'groups INSERT' }]);
  await world.pool`delete from unraised`;
});
