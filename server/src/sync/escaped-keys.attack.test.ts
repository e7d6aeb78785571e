// No list can change how the names of attributes in another account's list are read, although JSON.parse confuses names with escapes (decision 75).
import { describe, expect, test } from 'vitest';
import type { TestAccount } from '../testing/world.ts';
import { createManually, useService, userOf, world } from './organization.fixture.ts';

useService();

const attributes = { site: 'S', Wohnsätze: 'W', 'Grade "A"': 'G' };
/** As Python writes them. */
const listed = '"site":"S","Wohns\\u00e4tze":"W","Grade \\"A\\"":"G"';
/** The names have as many characters as those that are to be confused, and are their texts as far as they go. */
const confusing = [
  '"site":"S","Wohns\\\\u00":"W"',
  '"site":"S","Grade \\\\\\"A":"G"',
  '"site":"S","Wohns\\u00e4tze":"W","Grade \\\\\\"A":"G"',
];

const data = (externalId: string, firstName: string, properties: string) =>
  `"data":{"users":[{"externalId":"${externalId}","firstName":"${firstName}","lastName":"L","externalProperties":{${properties}}}]}`;
const whole = (externalId: string, firstName: string, properties: string) =>
  `{"settings":{"validateOnly":false},${data(externalId, firstName, properties)}}`;

/** The lists are refused, because no one knows the attributes, but they were read. */
async function attack(): Promise<void> {
  const attacker = await world.account();
  for (const properties of confusing)
    expect((await attacker.push(whole('a', 'F', properties))).status).toBe(400);
}

async function victim(): Promise<TestAccount> {
  const account = await world.account();
  for (const name of Object.keys(attributes)) await createManually.attribute(account, name);
  return account;
}

/** A new user, a changed one, and the same list again. */
const names = ['Eva', 'Evy', 'Evy'];

describe('names with escapes are read as they are', () => {
  test('in a request', async () => {
    const account = await victim();
    for (const firstName of names) {
      // Again before each list: what it has left is garbage.
      await attack();
      const { status, body } = await account.push(whole('v', firstName, listed));
      expect([status, body.details]).toEqual([200, undefined]);
      expect(await userOf(account, 'v')).toMatchObject({ attributes, first_name: firstName });
    }
  });

  test('in a push in parts', async () => {
    await attack();
    const account = await victim();
    const send = async (method: string, path: string, body?: string) =>
      world.request<{ id: string; state: string; details?: unknown }>(
        method,
        `/v1/organization/pushes${path}`,
        {
          headers: { authorization: account.token, ...(body && { 'content-type': 'application/json' }) },
          ...(body && { body }),
        },
      );
    for (const firstName of names) {
      const { id } = (await send('POST', '')).body;
      const part = await send('PUT', `/${id}/parts/1`, `{${data('v', firstName, listed)}}`);
      expect([part.status, part.body.details]).toEqual([200, undefined]);
      await send('POST', `/${id}/commit`, '{"parts":1,"settings":{"validateOnly":false}}');
      await expect.poll(async () => (await send('GET', `/${id}`)).body.state).toBe('applied');
      expect(await userOf(account, 'v')).toMatchObject({ attributes, first_name: firstName });
    }
  });
});
