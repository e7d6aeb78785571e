// From the drop of a file to the organization that matches it: 20,000 people × 15 columns, created from nothing, and then
// unchanged, by HTTPS through the service and its jobs.
// oxlint-disable no-await-in-loop -- one after another, or they would measure each other
import { type FileReport, isUnderWay } from '@soundings/contract/storage.ts';
import { changeAccount, createAccount } from '@soundings/server/src/accounts/accounts.ts';
import { createToken } from '@soundings/server/src/accounts/tokens.ts';
import { inTransaction } from '@soundings/server/src/db/db.ts';
import type { FileKind } from '@soundings/server/src/files/names.ts';
import { createUser } from '@soundings/server/src/people/people.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Row, time, timed } from './measure.ts';
import type { Plans, Sized } from './plans.ts';
import type { Service } from './service.ts';
import { fileOf } from './sheets.ts';

/** How many people are on the list, and the formats in which it is dropped. */
type Plan = { people: number; kinds: FileKind[] };

export const dropsPlans: Plans<Plan> = {
  whole: { people: 20_000, kinds: ['csv', 'xls', 'xlsx'] },
  smoke: { people: 100, kinds: ['csv'] },
};

/** In milliseconds. */
const demands = { csv: 10_000, xls: undefined, xlsx: 20_000 };
const most = { maxUsersCreated: 20_000, maxGroupsCreated: 20_000 };

/** Drops the list in each format, twice: all created, then all unchanged. */
export const benchDrops: Sized<Plan> = (plan) => async (say, start) => {
  const { people, kinds } = plan;
  const service = await start();
  try {
    const rows: Row[] = [];
    for (const kind of kinds) {
      const bytes = fileOf(kind, people);
      const token = await newAccount(service);
      for (const then of ['created', 'unchanged'] as const) {
        const [ms, report] = await timed(() => drop(service, token, `users.${kind}`, bytes));
        if (report.outcome !== 'applied' || report.summary?.users[then] !== people) {
          throw new Error(`The file was not applied as meant: ${report.message}`);
        }
        const what = `${people.toLocaleString('en')} × 15 as ${kind.toUpperCase()}, from drop to applied, all ${then}`;
        say(`${what}: ${time(ms)}`);
        const demand = demands[kind];
        rows.push({
          what,
          measured: time(ms),
          ...(demand !== undefined && { demand: `≤ ${time(demand)}`, holds: ms <= demand }),
        });
      }
    }
    return { rows, postgres: service.postgres };
  } finally {
    await service.stop();
  }
};

async function newAccount({ pool }: Service): Promise<string> {
  const id = await inTransaction(pool, async (tx) => {
    const account = await createAccount(tx, { name: 'Bench' });
    await createUser(tx, account.id, { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' });
    await changeAccount(tx, account.id, { ...most, createGroupsFromUsers: true });
    return account.id;
  });
  return (await createToken(pool, id, { name: 'bench', scopes: ['files'] })).token;
}

/** Until the report says what came of it. */
async function drop({ address }: Service, token: string, name: string, bytes: Buffer): Promise<FileReport> {
  const headers = { authorization: token };
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(bytes)]), name);
  const sent = await fetch(`${address}/v1/storage/uploadFile`, { method: 'POST', headers, body });
  if (sent.status !== 200) throw new Error(`The upload was answered by ${sent.status}: ${await sent.text()}`);
  for (;;) {
    const answer = await fetch(`${address}/v1/storage/files/${name}/report`, { headers });
    const report = (await answer.json()) as FileReport;
    if (!isUnderWay(report.outcome)) return report;
    await sleep(50);
  }
}
