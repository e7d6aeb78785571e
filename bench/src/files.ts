// Time from uploading a file over HTTP until the organization matches it: 20,000 people × 15 columns, first all created, then all
// unchanged. Floor: reading the file without a service, and pushing the same people to another account.
// Run one at a time, because parallel runs would affect each other's times.
import { type FileReport, isUnderWay } from '@soundings/contract/storage.ts';
import { changeAccount, createAccount } from '@soundings/server/src/accounts/accounts.ts';
import { createToken } from '@soundings/server/src/accounts/tokens.ts';
import { inTransaction } from '@soundings/server/src/db/db.ts';
import type { FileKind } from '@soundings/server/src/sheets/file-names.ts';
import { readSheets } from '@soundings/server/src/sheets/sheet.ts';
import { defineAttribute } from '@soundings/server/src/people/attributes.changes.ts';
import { createUser } from '@soundings/server/src/people/users.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { against, type BenchRow, time, timed } from './measuring/measure.ts';
import type { Plans, Sized } from './measuring/plans.ts';
import type { BenchAccount, Service } from './measuring/service.ts';
import { push, pushBodyOf } from './push.ts';
import { attributesOfFile, companyOfFile, fileOf } from './sheets.ts';

/** How many people are in the file, and its formats. */
type Plan = { people: number; kinds: FileKind[] };

export const dropsPlans: Plans<Plan> = {
  whole: { people: 20_000, kinds: ['csv', 'xls', 'xlsx'] },
  smoke: { people: 100, kinds: ['csv'] },
};

/** How many times longer than the floor it may take. Hardly anyone has XLS. */
const targets = { csv: 1.3, xls: undefined, xlsx: 1.3 };
const limits = { maxUsersCreated: 20_000, maxGroupsCreated: 20_000 };

/** Uploads the file twice in each format. The first upload creates all people, the second changes none. */
export const benchDrops: Sized<Plan> = (plan) => async (say, start) => {
  const { people, kinds } = plan;
  const service = await start();
  try {
    const rows: BenchRow[] = [];
    const body = pushBodyOf(companyOfFile(people));
    for (const kind of kinds) {
      const bytes = fileOf(kind, people);
      const [{ token }, other] = [await newAccount(service), await newAccount(service)];
      for (const then of ['created', 'unchanged'] as const) {
        const [ms, report] = await timed(() => drop(service, token, `users.${kind}`, bytes));
        if (report.outcome !== 'applied' || report.summary?.users[then] !== people) {
          throw new Error(`The file was not applied as expected: ${report.message}`);
        }
        const [reading] = await timed(() => readSheets(bytes, kind));
        // A space makes other bytes. A push of the same bytes as before is answered without reading the list.
        const sent = then === 'created' ? body : Buffer.concat([Buffer.from(' '), body]);
        const [pushing] = await timed(() => push(service, other, sent, { [then]: people }));
        const what = `${people.toLocaleString('en')} × 15 as ${kind.toUpperCase()}, from upload to applied, all ${then}`;
        const row = against(what, [ms], [reading + pushing], targets[kind]);
        say(`${what}: ${row.measured}, reading ${time(reading)}, pushing ${time(pushing)}, ${row.ratio}`);
        rows.push(row);
      }
    }
    return { rows, postgres: service.postgres };
  } finally {
    await service.stop();
  }
};

/** Creates an account that has an attribute for each other column. */
async function newAccount({ pool }: Service): Promise<BenchAccount> {
  const id = await inTransaction(pool, async (tx) => {
    const account = await createAccount(tx, { name: 'Bench' });
    await createUser(tx, account.id, { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' });
    await changeAccount(tx, account.id, { ...limits, createGroupsFromUsers: true });
    for (const name of attributesOfFile) await defineAttribute(tx, account.id, { name, allowedValues: null });
    return account.id;
  });
  const { token } = await createToken(pool, id, { name: 'bench', scopes: ['files', 'organization'] });
  return { id, token };
}

/** Uploads a file and waits for its report. */
async function drop({ address }: Service, token: string, name: string, bytes: Buffer): Promise<FileReport> {
  const headers = { authorization: token };
  const body = new FormData();
  body.append('file', new Blob([new Uint8Array(bytes)]), name);
  const sent = await fetch(`${address}/v1/storage/uploadFile`, { method: 'POST', headers, body });
  if (sent.status !== 200) throw new Error(`The upload failed with ${sent.status}: ${await sent.text()}`);
  for (;;) {
    const response = await fetch(`${address}/v1/storage/files/${name}/report`, { headers });
    const report = (await response.json()) as FileReport;
    if (!isUnderWay(report.outcome)) return report;
    await sleep(50);
  }
}
