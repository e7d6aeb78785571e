// What people do in a service, from setting up a company to its results, for tests of surroundings in which all of it must work.
import { type FileReport, isUnderWay } from '@soundings/contract/storage.ts';
import { expect } from 'vitest';
import { createAccount } from '../../accounts/accounts.ts';
import { createToken } from '../../accounts/tokens.ts';
import { randomText } from '../../base/crypto/secrets.ts';
import { inTransaction } from '../../db/db.ts';
import { createUser } from '../../people/users.ts';
import { askPeople } from '../asking.ts';
import type { TestData } from '../database.ts';
import { type SendRequest, signIn } from '../signed-in.ts';
import { until } from '../until.ts';

/**
 * Sets up a company, pushes people, opens a week, answers, closes it, reads its results and uploads a file. `address`: of a process that
 * answers requests of this database, while that process or another one runs jobs. Returns what more can be asked of.
 */
export async function runSurvey(
  database: TestData,
  address: string,
): Promise<{ accountId: number; groupId: number; questionId: number; request: SendRequest }> {
  const { pool } = database;
  const { accountId, ada } = await inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Test' });
    const person = { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' } as const;
    return { accountId: id, ada: await createUser(tx, id, person) };
  });
  const scopes = ['data', 'organization', 'files'] as const;
  const { token: authorization } = await createToken(pool, accountId, { name: 'test', scopes: [...scopes] });
  const send = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(address + path, {
      ...init,
      headers: { authorization, 'content-type': 'application/json', ...init.headers },
    });
    return { status: response.status, text: await response.text() };
  };

  const users = Array.from({ length: 30 }, (_, i) => ({
    externalId: `u${i}`,
    firstName: 'A',
    lastName: 'B',
  }));
  const body = JSON.stringify({ settings: { validateOnly: false }, data: { users } });
  expect(await send('/v1/organization', { method: 'POST', body })).toMatchObject({ status: 200 });

  const asked = await askPeople(database, accountId, { count: 12 });
  const question = asked.questionIds.get('workload-amount') as number;
  const answered = await Promise.all(
    asked.links.map(async (link, i) => {
      const cookie = `soundings_visit=${randomText(27)}`;
      const opened = await fetch(`${address}/a/${link}`, { headers: { cookie } });
      await opened.text();
      const init = {
        method: 'POST',
        headers: { cookie },
        body: JSON.stringify({ question, value: 1 + (i % 5) }),
      };
      return [opened.status, (await send(`/a/${link}/answers`, init)).status];
    }),
  );
  expect(answered).toEqual(asked.links.map(() => [200, 204]));

  const request = await signIn({ pool, address: address }, accountId, ada);
  expect(await request('GET /results')).toMatchObject({ status: 200 });
  const [job] = await pool<{ id: string }[]>`
    select id from graphile_worker.add_job('close week', json_build_object(
      'accountId', ${accountId}::integer, 'week', ${asked.week}::text))`;
  await until(async () => {
    const rows = await pool`select from graphile_worker._private_jobs where id = ${job!.id}`;
    return rows.length === 0;
  });
  const kpi = `/v1/kpis/workload/values?groupId=${asked.groupId}&includeSubgroups=true&fromDate=2026-11-16&toDate=2026-11-22`;
  const [values, rates, feed, overview] = await Promise.all([
    send(kpi),
    send(
      `/v1/responserates/values?groupId=${asked.groupId}&includeSubgroups=false&fromDate=2026-11-16&toDate=2026-11-22`,
    ),
    send('/v1/feed'),
    request(`GET /results/groups/${asked.groupId}`),
  ]);
  expect([values, rates, feed, overview].map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(JSON.parse(values.text)).toMatchObject({ values: [expect.anything()] });

  const form = new FormData();
  form.append('file', new Blob(['EmployeeID;FirstName;LastName\nf1;Eva;Ek\n']), 'one.csv');
  const uploaded = await fetch(`${address}/v1/storage/uploadFile`, {
    method: 'POST',
    headers: { authorization },
    body: form,
  });
  expect(uploaded.status).toBe(200);
  await until(async () => {
    const report = await send('/v1/storage/files/one.csv/report');
    return report.status === 200 && !isUnderWay((JSON.parse(report.text) as FileReport).outcome);
  });
  expect(await pool`select from users where account_id = ${accountId} and external_id = 'f1'`).toHaveLength(
    1,
  );
  return { accountId, groupId: asked.groupId, questionId: question, request };
}
