// Makes the demo company in a real account, through the same doors as everybody's data.
import { dayIn } from '@soundings/contract/weeks.ts';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount } from '../accounts/accounts.ts';
import { createToken } from '../accounts/tokens.ts';
import { newId } from '../base/ids.ts';
import { type AccountId, inTransaction, type Pool } from '../db/db.ts';
import { importHistory } from '../history/history.ts';
import { createUser, defineAttribute } from '../people/people.ts';
import { forgetGroups } from '../results/publish.ts';
import { pushOrganization } from '../sync/sync.ts';
import { demoAttribute, makeDemoCompany } from './company.ts';
import { selectDemoAccount, selectTopGroup } from './demo.sql.ts';

const name = 'Lavmark (demo)';
const timezone = 'Europe/Stockholm';
const seed = 1;

export type Demo = { account: { id: AccountId; name: string }; topGroup: number; token: string };

/**
 * Makes the demo company, or finds the one that was made before; the answers are those of the 26 weeks before it was made.
 * Returns it with a new token for all interfaces. `now`: milliseconds since 1970.
 */
export async function makeDemo(pool: Pool, now: number): Promise<Demo> {
  const found = await selectDemoAccount(pool, name);
  const id = found?.accountId ?? (await makeAccount(pool));
  if (!found?.hasRounds) await fill(pool, id, now);
  const scopes = ['data', 'organization', 'files'];
  const { token } = await createToken(pool, id, { name: 'demo', scopes });
  return { account: { id, name }, topGroup: await selectTopGroup(pool, id), token };
}

async function makeAccount(pool: Pool): Promise<AccountId> {
  return inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name, timezone });
    const { values: allowedValues } = demoAttribute;
    await defineAttribute(tx, id, { name: demoAttribute.name, allowedValues });
    await createUser(tx, id, {
      firstName: 'Demo',
      lastName: 'Administrator',
      email: 'demo@lavmark.example',
      role: 'Administrator',
    });
    return id;
  });
}

/** What was begun and not ended, by a stop in the middle, is ended here: a push and an import are all or nothing. */
async function fill(pool: Pool, id: AccountId, now: number): Promise<void> {
  const { organization, history } = makeDemoCompany({ seed, today: dayIn(timezone, now) });
  const run = { id: newId(), source: 'api' as const, tokenId: null, file: null };
  const bytes = Buffer.from(JSON.stringify(organization));
  await pushOrganization(pool, id, run, { bytes, gzip: false }, forgetGroups);
  const path = join(tmpdir(), `soundings-demo-${run.id}.ndjson`);
  try {
    await writeFile(path, `${[...history].join('\n')}\n`);
    await importHistory(pool, id, path, now);
  } finally {
    await rm(path, { force: true });
  }
}

/** What a newcomer does next, ready to be pasted. `address`: where the service is reached. */
export function describeDemo({ account, topGroup, token }: Demo, address: string): string {
  return `
The demo company "${account.name}" is account ${account.id}: some 500 people in 60 groups, and 26 weeks of answers.

  Documents   ${address}/docs
  API token   ${token}   (of all scopes, shown only now)

Try:

  export TOKEN=${token}
  curl -s ${address}/v1/groups -H "Authorization: $TOKEN"
  curl -s ${address}/v1/kpis -H "Authorization: $TOKEN"
  curl -s '${address}/v1/kpis/energy/values?groupId=${topGroup}&includeSubgroups=true' -H "Authorization: $TOKEN"
  curl -s '${address}/v1/responserates/values?groupId=${topGroup}' -H "Authorization: $TOKEN"
  curl -s '${address}/v1/results?groupId=${topGroup}&includeComments=true&language=sv' -H "Authorization: $TOKEN"
  curl -s '${address}/v1/feed' -H "Authorization: $TOKEN" -o soundings.csv
  npx soundings runs list --account ${account.id}
`;
}
