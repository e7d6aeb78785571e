// A stored secret stays with its host, is sealed, and is a failure if it can't be read.
import { expect, test } from 'vitest';
import { Fault } from '../base/errors.ts';
import { inTransaction } from '../db/db.ts';
import { claimPulls } from './claims.sql.ts';
import { fetchPull } from './fetch-pull.ts';
import { pullById } from './pulls.ts';
import {
  ask,
  basicAccess,
  change,
  database,
  fetchingOf,
  lastFetch,
  newCompany,
  newPull,
  openHr,
  peopleList,
  pullDue,
  sendJson,
  usePullDatabase,
} from './pulls.fixture.ts';
import { openPullSecret, resealPullSecrets } from './secrets.ts';

usePullDatabase();

const people = peopleList(2);

test('a stored secret is not sent to another host, by any change of the address', async () => {
  const hr = await openHr((_, response) => sendJson(response, people));
  const thief = await openHr((_, response) => sendJson(response, people));
  const company = await newCompany(database.pool);
  const oauth = {
    kind: 'oauth' as const,
    tokenUrl: `${hr.url}/token`,
    clientId: 'c',
    method: 'post' as const,
  };
  for (const access of [basicAccess, { kind: 'header' as const, header: 'X-Api-Key' }, oauth]) {
    const id = await newPull(database, company, { url: `${hr.url}/list`, access, secret: 'stored' });
    const swaps = [
      { url: `${thief.url}/list` },
      { url: hr.url.replace('127.0.0.1', 'localhost') },
      { url: `${thief.url}/list`, access: { ...access } },
      ...(access === oauth ? [{ access: { ...oauth, tokenUrl: `${thief.url}/token` } }] : []),
      {
        access: {
          kind: access.kind === 'basic' ? ('header' as const) : ('basic' as const),
          header: 'X',
          user: 'u',
        },
      },
    ];
    for (const changes of swaps)
      await expect(change(database, company, id, changes)).rejects.toMatchObject({
        code: 'secret required',
      });
    // Someone who can write the database still can't have it sent elsewhere.
    await database.pool`update pulls set url = ${`${thief.url}/list`} where account_id = ${company.id} and pull_id = ${id}`;
    await ask(database, company, id, true);
    expect(await pullDue(database, company)).toMatchObject({ error: 'secret' });
    await change(database, company, id, {
      url: `${thief.url}/list`,
      secret: 'another',
      access: basicAccess,
    });
  }
  expect(thief.seen).toEqual([]);
});

test('a missing secrets key is a failure that administrators see', async () => {
  const hr = await openHr();
  const company = await newCompany(database.pool);
  const values = { url: `${hr.url}/list`, access: basicAccess, secret: 'x' };
  const id = await newPull(database, company, values);
  const missing = new Fault('unavailable', 'secrets key missing', 'The secrets key is missing.');
  const refuse = () => Promise.reject(missing);
  const secrets = { seal: refuse, open: refuse };
  const claims = { claim: crypto.randomUUID(), count: 1, now: Date.now(), until: Date.now() + 60_000 };
  const [claimed] = await claimPulls(database.pool, claims);
  await fetchPull({ ...fetchingOf(database), secrets }, claimed!);
  expect(await lastFetch(database.pool, company)).toMatchObject({
    error: 'secret',
    detail: missing.message,
  });
  expect([await pullById(database.pool, company.id, id), hr.seen]).toMatchObject([{ isUnderWay: false }, []]);
});

test('a secret is sealed, and stays readable when the key of secrets is replaced', async () => {
  const hr = await openHr((_, response) => sendJson(response, people));
  const company = await newCompany(database.pool);
  const values = { url: `${hr.url}/list`, access: basicAccess };
  const id = await newPull(database, company, { ...values, secret: 'plain-text-secret' });
  const [row] = await database.pool<{ secret: Buffer; text: string }[]>`
      select secret, to_jsonb(p)::text as text from pulls p where account_id = ${company.id} and pull_id = ${id}`;
  expect(row!.text).not.toContain(Buffer.from('plain-text-secret').toString('hex'));
  const place = { accountId: company.id, pullId: id, ...values };
  expect(await openPullSecret(database.keys.secrets, place, row!.secret)).toBe('plain-text-secret');
  const contexts: string[] = [];
  await inTransaction(database.pool, (tx) =>
    resealPullSecrets(tx, (context) => {
      contexts.push(context);
      return undefined;
    }),
  );
  expect(contexts).toContain(`pull ${company.id} ${id} ${hr.url}`);
});
