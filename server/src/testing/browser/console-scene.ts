// Additional data of the demo company, so that every page of the console has something to show: used tokens, and files, of which
// one was applied, one has invalid rows, one needs its columns confirmed, and one is pending.
import { type FileReport, isUnderWay } from '@soundings/contract/storage.ts';
import { changeAccount } from '../../accounts/accounts.ts';
import type { Actor } from '../../accounts/audit.ts';
import { createToken, revokeToken } from '../../accounts/tokens.ts';
import { csvRow } from '../../base/csv.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { until } from '../until.ts';
import { makePulls } from './pull-scene.ts';
import { fillDeliveries, makeEndpoints } from './webhook-scene.ts';

type Place = { address: string; pool: Pool; accountId: number };

/** The values for the parameters of page addresses. */
export type PageIds = Record<
  | 'userId'
  | 'groupId'
  | 'questionId'
  | 'scheduleId'
  | 'runId'
  | 'fileId'
  | 'exportId'
  | 'endpointId'
  | 'pullId',
  number | string
>;

type Row = { externalId: string; firstName: string; lastName: string; email: string; group: string };

const header = ['EmployeeID', 'FirstName', 'LastName', 'Email'];
const csvOf = (rows: (string | null)[][], more: string[] = []) =>
  [[...header, ...more], ...rows].map(csvRow).join('');
const line = ({ externalId, firstName, lastName, email }: Row) => [externalId, firstName, lastName, email];

/**
 * Creates the data, and returns the ids to show. `runId` is the pending run, `fileId` the file with invalid rows, and
 * `exportId` the file whose columns are to be confirmed.
 */
export async function makeScene(place: Place): Promise<PageIds> {
  const { pool, accountId } = place;
  const [administrator] = await pool<{ id: number }[]>`
    select user_id as id from users
    where  account_id = ${accountId} and role = 'Administrator' and not managed`;
  const userId = administrator?.id as number;
  const actor: Actor = { origin: 'console', userId, address: '192.0.2.17' };
  const token = await makeTokens(place, actor);
  const endpointId = await makeEndpoints(pool, accountId, userId);
  await inTransaction(pool, (tx) => changeAccount(tx, accountId, { applyFiles: true }, actor));
  await sendFiles(place, token);
  await fillDeliveries(pool, accountId);
  const pullId = await makePulls(pool, accountId, userId);
  return { ...(await idsOf(place)), endpointId, pullId };
}

async function makeTokens({ pool, accountId, address }: Place, actor: Actor): Promise<string> {
  const make = (name: string, ...scopes: string[]) => createToken(pool, accountId, { name, scopes }, actor);
  const old = await make('Old payroll', 'organization');
  await revokeToken(pool, accountId, old.id, actor);
  const reports = await make('Power BI', 'data');
  await make('Workday export', 'organization');
  await fetch(`${address}/v1/groups`, { headers: { authorization: reports.token } });
  return (await make('HR drop folder', 'files')).token;
}

async function sendFiles({ address, pool, accountId }: Place, token: string): Promise<void> {
  const people = await pool<Row[]>`
    select u.external_id as "externalId", u.first_name as "firstName", u.last_name as "lastName",
           u.email, min(g.external_id) as "group"
    from   users u
    left   join memberships m on m.account_id = u.account_id and m.user_id = u.user_id and m.kind = 'memberOf'
    left   join groups g on g.account_id = u.account_id and g.group_id = m.group_id
    where  u.account_id = ${accountId} and u.managed
    group  by 1, 2, 3, 4
    order  by 1`;
  async function send(name: string, text: string): Promise<void> {
    const form = new FormData();
    form.append('file', new Blob([text]), name);
    const headers = { authorization: token };
    const sent = await fetch(`${address}/v1/storage/uploadFile`, { method: 'POST', body: form, headers });
    if (sent.status !== 200) throw new Error(await sent.text());
    await until(async () => {
      const response = await fetch(`${address}/v1/storage/files/${name}/report`, { headers });
      return !isUnderWay(((await response.json()) as FileReport).outcome);
    });
  }
  await send('people-2026-11-16.csv', withChanges(people));
  await send('november-starters.csv', withFaults(people));
  await send('personio-export.csv', toBeMapped);
  // Half of the people are missing, so the file would remove more than the limit.
  await send('people-2026-11-18.csv', csvOf(people.slice(0, people.length / 2).map(line)));
}

/** In the format of an HR system: two columns of phone numbers without a country prefix, and its own status values. */
const toBeMapped = [
  'ID;Full name;Email;Status;Work phone;Mobile phone;Department;Office',
  '48210;Anna Berg;anna.berg@lavmark.example;Active;;070-174 06 35;shop-malmo;Malmö',
  "48211;O'Neil, Björn;bjorn.oneil@lavmark.example;Active;040-660 10 20;070-174 06 36;shop-malmo;Malmö",
  '48212;Chloë de la Cruz;chloe.delacruz@lavmark.example;Leave;;070-174 06 37;shop-uppsala;Uppsala',
  '48213;Dieter Groß;dieter.gross@lavmark.example;In Elternzeit;;;shop-uppsala;Uppsala',
  '48214;Ewa Ślęzak;ewa.slezak@lavmark.example;Trainee;;+46 70 174 06 38;shop-lund;Lund',
]
  .map((row) => `${row}\r\n`)
  .join('');

/** Returns everyone, some with a new name or address, and two new people. */
function withChanges(people: Row[]): string {
  const rows = people.map((person, i) =>
    line({
      ...person,
      ...(i % 90 === 7 && { lastName: `${person.lastName} Lund` }),
      ...(i % 110 === 50 && { email: person.email.replace('@', '.x@') }),
    }),
  );
  const begin = [
    ['n-2001', 'Alma', 'Wikström', 'alma.wikstrom@lavmark.example'],
    ['n-2002', 'Otto', 'Falk', 'otto.falk@lavmark.example'],
  ];
  return csvOf([...rows, ...begin]);
}

/** Returns four new people, with each kind of mistake that such lists have. */
function withFaults(people: Row[]): string {
  const [one, other] = people as [Row, Row];
  return csvOf(
    [
      ['n-2003', 'Saga', 'Holm', 'saga.holm@lavmark.example', 'shop-malmo'],
      ['n-2004', 'Nils', 'Åström', 'nils.astrom(at)lavmark.example', 'shop-malmo'],
      ['n-2005', 'Elin', 'Borg', 'elin.borg@lavmark.example', 'shop-uppsala'],
      ['n-2005', 'Elin', 'Borg', 'elin.borg@lavmark.example', 'shop-malmo'],
      ['n-2006', '', 'Ek', 'ek@lavmark.example', 'it-helpdesk'],
      ['n-2007', '=Viktor', 'Lind', one.email, 'it-helpdesk'],
      [...line(other), 'it-platfrom'],
    ],
    ['Department ID'],
  );
}

async function idsOf({ pool, accountId }: Place): Promise<Omit<PageIds, 'endpointId' | 'pullId'>> {
  const [ids] = await pool<Omit<PageIds, 'endpointId' | 'pullId'>[]>`
    select (select user_id from users
            where  account_id = ${accountId} and managed and role = 'Manager'
            order  by user_id limit 1)                                              as "userId",
           (select group_id from groups
            where  account_id = ${accountId} and external_id = 'workshops')         as "groupId",
           (select question_id from results
            where  account_id = ${accountId} order by week desc, question_id limit 1) as "questionId",
           (select min(schedule_id) from schedules where account_id = ${accountId}) as "scheduleId",
           (select run_id from pending_runs where account_id = ${accountId})           as "runId",
           (select file_id from files
            where  account_id = ${accountId} and name like 'november%')             as "fileId",
           (select file_id from files
            where  account_id = ${accountId} and name like 'personio%')             as "exportId"`;
  return ids!;
}
