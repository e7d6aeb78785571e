// Attacks by an administrator who gives externalIds to other people while a week is open, by push and in the console (privacy.md
// P12). The new owner of an externalId gets no answer that was given under it before: no answer is shown, moved or lost.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { closeWeekNow } from '../results/close-week.ts';
import { newLinks } from '../rounds/links.ts';
import { openDueRounds } from '../rounds/opening.ts';
import { createSchedule } from '../rounds/schedules.ts';
import { inTransaction } from '../db/db.ts';
import { defineLibrary } from '../questions/questions.ts';
import { selectQuestions } from '../questions/questions.sql.ts';
import { WeekKey } from '../sealing/week-key.ts';
import { askedWeek, mondays, noon } from '../testing/asking.ts';
import { giveAnswer, visitOf } from '../testing/attacks/forgetting.ts';
import { type SendRequest, signInNew } from '../testing/signed-in.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => noon);
});
afterAll(() => world.close());

const mark = 'a comment that no one else may read';
const count = 20;

type Person = { externalId: string; email: string; firstName: string; lastName: string };
const personOf = (externalId: string): Person => ({
  externalId,
  email: `${externalId}@example.org`,
  firstName: 'P',
  lastName: externalId,
});

type Office = {
  account: TestAccount;
  request: SendRequest;
  groupId: number;
  questionIds: number[];
  idOf: (externalId: string) => Promise<number>;
  linkOf: (userId: number) => Promise<string>;
  /** Pushes the list of all people except the given ones. */
  pushWithout: (...externalIds: string[]) => Promise<void>;
  /** The attacker's own user, who has not answered. */
  own: number;
};

/** Creates twenty people who have answered the first question with a comment, and the attacker, who is asked as well. */
async function office(beforeOpening = async () => {}): Promise<Office> {
  const account = await world.account();
  const { request } = await signInNew(world, account.id, 'Administrator');
  const everyone = [...Array.from({ length: count }, (_, i) => `p${i + 1}`), 'own'];
  const pushWithout = async (...without: string[]) => {
    const users = everyone
      .filter((one) => !without.includes(one))
      .map((one) => ({ ...personOf(one), accessInfo: { memberOf: ['team'] } }));
    const data = { groups: [{ externalId: 'team', name: 'Team' }], users };
    const pushed = await account.push({ settings: { validateOnly: false }, data });
    expect(pushed.body).toMatchObject({ applied: true });
  };
  await pushWithout();
  const idOf = async (externalId: string) => {
    const [row] = await world.pool<{ id: number }[]>`
      select user_id as id from users where account_id = ${account.id} and external_id = ${externalId}`;
    return row?.id as number;
  };
  const linkOf = async (userId: number) => {
    const [link] = await newLinks(world.pool, [{ accountId: account.id, userId, week: askedWeek }]);
    return link as string;
  };
  const [team] = await account.groups();
  const groupId = team?.id as number;
  const questionIds = await inTransaction(world.pool, async (tx) => {
    await defineLibrary(tx, account.id, 'en');
    const ids = new Map((await selectQuestions(tx, account.id)).map(({ key, id }) => [key, id]));
    const both = ['workload-amount', 'workload-rested'].map((key) => ids.get(key) as number);
    await createSchedule(tx, account.id, mondays({ groupIds: [groupId], questionIds: both.slice(0, 1) }));
    return both;
  });
  await beforeOpening();
  await openDueRounds(world.pool, world.keys, noon);
  for (let i = 1; i <= count; i++) {
    const link = await linkOf(await idOf(`p${i}`));
    const given = { question: questionIds[0], value: 1 + (i % 5), comment: `${mark} ${i}` };
    await giveAnswer(world.address, link, given);
  }
  return { account, request, groupId, questionIds, idOf, linkOf, pushWithout, own: await idOf('own') };
}

/** Returns how many traces of answers a link shows: comments, values, and notes that a question is already answered. */
async function seenBy(link: string, visit?: string): Promise<number> {
  const headers: Record<string, string> = visit === undefined ? {} : { cookie: `soundings_visit=${visit}` };
  const page = await (await fetch(`${world.address}/a/${link}`, { headers })).text();
  expect(page).toContain('Questions from Test');
  return [mark, / checked[ >]/, /answered with another link/].filter((one) => page.search(one) >= 0).length;
}

/** Returns what is published about the first question. All answers count, whatever happened to the externalIds. */
async function figuresOf({ account, questionIds }: Office) {
  await closeWeekNow(world.pool, world.keys, account.id, askedWeek, noon);
  const results = await world.pool`
    select value, answers, distribution from results
    where  account_id = ${account.id} and question_id = ${questionIds[0] as number}`;
  const comments = await world.pool`select text from comments where account_id = ${account.id}`;
  return { results: [...results], comments: comments.map(({ text }) => text as string).toSorted() };
}

const done = async (response: Promise<{ status: number; text: string }>) => {
  const { status, text } = await response;
  if (status >= 300) throw new Error(text);
};

/** Makes the attacker's own user a manual one, so that the console can change its externalId. */
const rename = async ({ request, own }: Office, externalId: string) =>
  done(request(`PATCH /users/${own}`, { externalId }));
const release = ({ request }: Office, userId: number) => done(request(`POST /users/${userId}/release`));
const remove = ({ request }: Office, userId: number) => done(request(`DELETE /users/${userId}`));

/** Each moves an externalId to the attacker and returns the links that the attacker then has. */
const attacks: Record<string, (office: Office) => Promise<string[]>> = {
  'a push removes the person, and the attacker gets the externalId': async (at) => {
    const link = await at.linkOf(at.own);
    await release(at, at.own);
    await at.pushWithout('p1', 'own');
    expect(await at.idOf('p1')).toBeUndefined();
    await rename(at, 'p1');
    return [link, await at.linkOf(at.own)];
  },
  'the console removes the person, and the attacker gets the externalId': async (at) => {
    const link = await at.linkOf(at.own);
    const victim = await at.idOf('p2');
    await release(at, victim);
    await release(at, at.own);
    await remove(at, victim);
    await rename(at, 'p2');
    return [link, await at.linkOf(at.own)];
  },
  'two people swap their externalIds': async (at) => {
    const victim = await at.idOf('p3');
    await release(at, victim);
    await release(at, at.own);
    await rename(at, 'in between');
    await done(at.request(`PATCH /users/${victim}`, { externalId: 'own' }));
    await rename(at, 'p3');
    return [await at.linkOf(at.own)];
  },
  'the person is removed and created again with another address, and a second schedule asks': async (at) => {
    const victim = await at.idOf('p4');
    await release(at, victim);
    await remove(at, victim);
    const fields = { phone: null, role: 'User', language: null, timezone: null, active: true };
    const memberships = { memberOf: [at.groupId] };
    const again = { ...personOf('p4'), email: 'mine@example.org', ...fields, memberships };
    await done(at.request('POST /users', again));
    await inTransaction(world.pool, (tx) =>
      createSchedule(
        tx,
        at.account.id,
        mondays({ name: 'Second', groupIds: [at.groupId], questionIds: at.questionIds.slice(1) }),
      ),
    );
    await openDueRounds(world.pool, world.keys, noon);
    return [await at.linkOf(await at.idOf('p4')), await at.linkOf(at.own)];
  },
  "the attacker's user is adopted under the externalId of someone who was released and removed": async (
    at,
  ) => {
    const victim = await at.idOf('p5');
    await release(at, at.own);
    await done(at.request(`PATCH /users/${at.own}`, { externalId: null }));
    await release(at, victim);
    await remove(at, victim);
    await done(at.request(`POST /users/${at.own}/adopt`, { externalId: 'p5' }));
    return [await at.linkOf(at.own)];
  },
};

describe('an administrator gives an externalId to someone else', () => {
  test('the answering page shows people their own answers, which the attacks look for', async () => {
    const at = await office();
    const link = await at.linkOf(at.own);
    expect(await seenBy(link)).toBe(0);
    await giveAnswer(world.address, link, { question: at.questionIds[0], value: 2, comment: mark });
    expect(await seenBy(link, visitOf(link))).toBeGreaterThanOrEqual(2);
    expect(await seenBy(link)).toBeGreaterThan(0); // the note that it was answered elsewhere
  });

  test.each(Object.entries(attacks))('%s: nothing is shown, moved or lost', async (_, attack) => {
    const plain = await figuresOf(await office());
    const at = await office();
    for (const link of await attack(at)) {
      expect(await seenBy(link)).toBe(0);
      expect(await seenBy(link, visitOf(link))).toBe(0);
    }
    expect(plain.results).toMatchObject([{ answers: count }]);
    expect(await figuresOf(at)).toEqual(plain);
  });

  test('the attack succeeds against a mutant whose respondent number depends on the externalId', async () => {
    const names = new Map<number, string>();
    const own = vi.spyOn(WeekKey.prototype, 'respondentOf').mockImplementation(function (
      this: WeekKey,
      userId: number,
    ) {
      return this.respondentOfStranger(names.get(userId) ?? `user ${userId}`);
    });
    const follow = async () => {
      const rows = await world.pool<{ id: number; name: string | null }[]>`
        select user_id as id, external_id as name from users`;
      for (const { id, name } of rows) names.set(id, name ?? `user ${id}`);
    };
    const at = await office(follow);
    const [first] = Object.values(attacks);
    const links = await (first as (office: Office) => Promise<string[]>)(at);
    await follow();
    expect(await seenBy(links[0] as string)).toBeGreaterThan(0);
    own.mockRestore();
  });
});
