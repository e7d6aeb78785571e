// People without email, their printed cards and kiosks, for tests. Cards and kiosks are created through the console.
import type { CardPlan } from '@soundings/contract/console/cards.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { createGroup } from '../../people/groups.ts';
import { inTransaction } from '../../db/db.ts';
import { type AskedAccount, askPeople } from '../../testing/asking.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import type { TestAccount, World } from '../../testing/world.ts';

export type CardOffice = AskedAccount & {
  account: TestAccount;
  request: SendRequest;
  /** The id of the first question. */
  question: number;
  /** Prints cards for people, all if left out, and returns the codes in the order of `userIds`. */
  print(userIds?: number[]): Promise<string[]>;
  /** Creates a kiosk and returns its path. */
  kiosk(groupId?: number | null): Promise<{ id: number; path: string }>;
};

/** Creates an account in which `count` people without email are asked two questions. */
export async function openOffice(
  world: World,
  { count = 3, language = 'en' }: { count?: number; language?: string } = {},
): Promise<CardOffice> {
  const account = await world.account({ timezone: 'Europe/Stockholm', language });
  const asked = await askPeople(world, account.id, { count });
  await world.pool`
    update users set email = null, email_key = null where account_id = ${account.id} and role = 'User'`;
  await world.pool`delete from messages where account_id = ${account.id}`;
  const { request } = await signInNew(world, account.id, 'Administrator');
  return {
    ...asked,
    account,
    request,
    question: asked.questionIds.get('workload-amount') as number,
    async print(userIds = asked.userIds) {
      const body = { chosen: { ids: userIds }, isReplacing: true, isPreview: false };
      const { status, body: plan } = await request<CardPlan & Problem>('POST /cards', body);
      if (status !== 200) throw new Error(`${status}: ${plan.message}`);
      const codes = new Map(plan.sheet!.cards.map(({ name, code }) => [name, code]));
      const people = await world.pool<{ id: number; name: string }[]>`
        select user_id as id, first_name || ' ' || last_name as name from users where account_id = ${account.id}`;
      const names = new Map(people.map(({ id, name }) => [id, name]));
      return userIds.map((id) => codes.get(names.get(id) as string) as string);
    },
    async kiosk(groupId = null) {
      const { body } = await request<{ id: number; address: string }>('POST /kiosks', {
        name: 'Canteen',
        groupId,
      });
      return { id: body.id, path: new URL(body.address).pathname };
    },
  };
}

/** Creates an empty group of the account. */
export const otherGroup = (world: World, accountId: number): Promise<number> =>
  inTransaction(world.pool, (tx) => createGroup(tx, accountId, { name: 'Night shift', externalId: 'night' }));

export type Entered = { status: number; link: string | null; text: string };

let networks = 0;
/** Returns the headers of a request from a network that no other request comes from. */
export const newNetwork = (): Record<string, string> => {
  networks++;
  return { 'x-forwarded-for': `198.51.${Math.floor(networks / 250)}.${networks % 250}` };
};

/** Enters a code at /go. */
export async function enter(world: World, code: string, headers = newNetwork()): Promise<Entered> {
  const reply = await fetch(`${world.address}/go`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ code }).toString(),
  });
  return { status: reply.status, link: reply.headers.get('location'), text: await reply.text() };
}

/** Enters a code at a kiosk. */
export async function enterAt(
  world: World,
  kiosk: string,
  code: string,
  headers = newNetwork(),
): Promise<Entered> {
  const reply = await fetch(`${world.address}${kiosk}/open`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ code }),
  });
  const text = await reply.text();
  const { link = null } = JSON.parse(text) as { link?: string | null };
  return { status: reply.status, link: link === null ? null : `/a/${link}`, text };
}
