// A directory and a provider for single sign-on, for the pages of the console: people of a new company that Entra ID has sent, two who
// exist already, one of them an administrator, and a provider that is turned on.
import { createToken } from '../../accounts/tokens.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { insertProvider } from '../../sso/providers.sql.ts';
import { createUser } from '../../people/users.ts';
import { until } from '../until.ts';

type Place = { address: string; pool: Pool; accountId: number };

const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const people = [
  'Alva Nyman',
  'Bo Sandell',
  'Carin Ruth',
  'Dag Ottosson',
  'Ella Quist',
  'Folke Palm',
  'Gun Rask',
];

/** Sends the users, and waits until they were applied. */
export async function sendDirectory({ address, pool, accountId }: Place): Promise<void> {
  const { token } = await createToken(pool, accountId, { name: 'Microsoft Entra ID', scopes: ['scim'] });
  const [known] = await pool<{ firstName: string; lastName: string; email: string }[]>`
    select first_name as "firstName", last_name as "lastName", email
    from   users
    where  account_id = ${accountId} and managed and active and email is not null
    order  by user_id limit 1`;
  const users = people.map((name) => {
    const [givenName = '', familyName = ''] = name.split(' ');
    return { givenName, familyName, email: `${givenName}.${familyName}@lavmark.example`.toLowerCase() };
  });
  if (known) users.push({ givenName: known.firstName, familyName: known.lastName, email: known.email });
  // An administrator with another name in the directory.
  const boss = { firstName: 'Maja', lastName: 'Lund', email: 'maja.lund@lavmark.example' };
  await inTransaction(pool, (tx) => createUser(tx, accountId, { ...boss, role: 'Administrator' }));
  users.push({ givenName: boss.firstName, familyName: 'Lund Berg', email: boss.email });
  for (const [i, { givenName, familyName, email }] of users.entries()) {
    const response = await fetch(`${address}/scim/v2/Users`, {
      method: 'POST',
      headers: { authorization: token, 'content-type': 'application/scim+json' },
      body: JSON.stringify({
        userName: email,
        externalId: `entra-${i}`,
        active: true,
        name: { givenName, familyName },
        emails: [{ type: 'work', value: email }],
        [enterprise]: { division: 'Lavmark Outdoor', department: i % 2 === 0 ? 'Rental' : 'Guides' },
      }),
    });
    if (response.status !== 201) throw new Error(await response.text());
  }
  await until(async () => {
    const [row] = await pool`
      select from scim_users where account_id = ${accountId} and changes <> applied and not is_blocked limit 1`;
    return row === undefined;
  });
}

/** Adds the provider as if an administrator had added it two weeks ago. Its secret is none, so no one can sign in with it. */
export async function addProvider(pool: Pool, accountId: number): Promise<void> {
  const fields = {
    publicKey: 'k3q8w2z7m5n1',
    name: 'Microsoft',
    issuer: 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    clientId: '5f0b7c1e-2a4d-4b8e-9c3f-7d6e5a4b3c2d',
    clientSecret: Buffer.alloc(60),
    enabled: true,
    domains: ['lavmark.example'],
    trustsDomains: true,
    createsPeople: false,
    roleClaim: null,
    roleValues: [],
    sessionHours: 12,
  };
  await inTransaction(pool, (tx) => insertProvider(tx, accountId, fields));
  await pool`update sign_in_providers set trusted_since = now() - interval '14 days' where account_id = ${accountId}`;
}
