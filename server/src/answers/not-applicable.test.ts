// "Not applicable" as an answer: where the page offers it, what is stored, and that a change of the question changes no open week.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLog } from '../base/log.ts';
import { inTransaction } from '../db/db.ts';
import { allowNotApplicable } from '../questions/questions.ts';
import { openDueRounds } from '../rounds/opening.ts';
import { newLinks } from '../rounds/links.ts';
import { keysOfAllTypes, noon, planAsking } from '../testing/asking.ts';
import { keptAnswers } from '../testing/kept-answers.ts';
import { openWorld, type World } from '../testing/world.ts';
import { notApplicableIn } from './form.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld(openLog('silent'), {}, () => noon);
});
afterAll(() => world.close());

const cookie = `soundings_visit=${'v'.repeat(27)}`;
const none = 'not-applicable';
const notFreeText = keysOfAllTypes.slice(0, 6);

type Asked = Awaited<ReturnType<typeof asked>>;
/** Asks one person a question of each type. `allowing`: the keys of the questions that allow it. */
async function asked(allowing: string[]) {
  const { id: accountId } = await world.account();
  const planned = await planAsking(world.pool, accountId, { count: 1, keys: keysOfAllTypes });
  const ids = keysOfAllTypes.map((key) => planned.questionIds.get(key) as number);
  await allow(accountId, allowing, true);
  await openDueRounds(world.pool, world.keys, noon);
  const week = '2026-11-16';
  const [link] = await newLinks(world.pool, [{ accountId, userId: planned.userIds[0] as number, week }]);
  return { accountId, ids, week, link: link as string };
}

async function allow(accountId: number, keys: string[], allowsNotApplicable: boolean): Promise<void> {
  await inTransaction(world.pool, (tx) => allowNotApplicable(tx, accountId, keys, allowsNotApplicable));
}

async function send(path: string, body?: string | object): Promise<{ status: number; text: string }> {
  const isForm = typeof body === 'string';
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  const reply = await fetch(`${world.address}/a/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    redirect: 'manual',
    headers: { cookie, ...(body !== undefined && { 'content-type': type }) },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  return { status: reply.status, text: await reply.text() };
}

const stored = async ({ accountId, week, ids }: Asked) => {
  const rows = await keptAnswers(world, accountId, week);
  return Object.fromEntries(
    rows.map(({ questionId, ...answer }) => [keysOfAllTypes[ids.indexOf(questionId)], answer]),
  );
};
const nothing = { value: null, choices: null, comment: null, skipped: false };
const chosen = { ...nothing, notApplicable: true };

/** Returns the keys of the questions for which the page offers it. */
const offeredIn = ({ ids }: Asked, html: string) =>
  keysOfAllTypes.filter((_, i) => new RegExp(`name="q${ids[i]}" value="${none}" data-none`).test(html));

describe('a question that allows it', () => {
  test('offers it in the same group as the other choices, in the language of the page, and no other question does', async () => {
    const one = await asked(['workload-pace', 'energy-givers']);
    const page = await send(one.link);
    expect(offeredIn(one, page.text)).toEqual(['workload-pace', 'energy-givers']);
    expect(page.text).toContain(
      `<input type="radio" name="q${one.ids[0]}" value="${none}" data-none>Not applicable to me`,
    );
    expect((await send(`${one.link}?language=sv`)).text).toContain('Gäller inte mig');
    const fieldset = page.text.slice(page.text.indexOf('<fieldset'), page.text.indexOf('</fieldset>'));
    expect(fieldset).toContain(none);
  });

  test('without JavaScript, stores it for every type, and shows it again as chosen', async () => {
    const one = await asked(notFreeText);
    const form = notFreeText.map((_, i) => `q${one.ids[i]}=${none}&c${one.ids[i]}=`).join('&');
    expect((await send(one.link, form)).status).toBe(303);
    expect(await stored(one)).toEqual(Object.fromEntries(notFreeText.map((key) => [key, chosen])));
    const page = await send(one.link);
    expect(page.text.match(/data-none checked/g)).toHaveLength(6);
  });

  test('with JavaScript, stores it with a comment, and replaces it by a value, a skip, or the other way round', async () => {
    const one = await asked(['workload-pace']);
    const [question] = one.ids;
    const give = (answer: object) => send(`${one.link}/answers`, { question, ...answer });
    expect((await give({ notApplicable: true, comment: 'I work alone.' })).status).toBe(204);
    expect(await stored(one)).toEqual({ 'workload-pace': { ...chosen, comment: 'I work alone.' } });
    expect((await give({ value: 4 })).status).toBe(204);
    expect(await stored(one)).toEqual({ 'workload-pace': { ...nothing, value: 4 } });
    expect((await give({ notApplicable: true })).status).toBe(204);
    expect((await give({ skipped: true })).status).toBe(204);
    expect(await stored(one)).toEqual({ 'workload-pace': { ...nothing, skipped: true } });
  });

  test('with check boxes, without JavaScript, keeps what was ticked last', async () => {
    const one = await asked(['energy-givers']);
    const name = `q${one.ids[5]}`;
    await send(one.link, `${name}=tasks`);
    await send(one.link, `${name}=&${name}=tasks&${name}=${none}`);
    expect(await stored(one)).toEqual({ 'energy-givers': chosen });
    await send(one.link, `${name}=&${name}=tasks&${name}=${none}`);
    expect(await stored(one)).toEqual({ 'energy-givers': { ...nothing, choices: ['tasks'] } });
  });

  test('takes up the same space in the database as any other answer', async () => {
    const [one, other] = [await asked(notFreeText), await asked(notFreeText)];
    await send(`${one.link}/answers`, { question: one.ids[0], notApplicable: true });
    await send(`${other.link}/answers`, { question: other.ids[0], value: 3 });
    const rows = await world.pool<{ size: number }[]>`
      select length(sealed) as size from answers where account_id in (${one.accountId}, ${other.accountId})`;
    expect(rows).toHaveLength(2);
    expect(new Set(rows.map(({ size }) => size)).size).toBe(1);
  });
});

describe('it is refused', () => {
  test.each([
    ['for a question that does not allow it', 1, { notApplicable: true }],
    ['with a value', 0, { notApplicable: true, value: 3 }],
    ['with a skip', 0, { notApplicable: true, skipped: true }],
    ['if it is not true or false', 0, { notApplicable: 'yes' }],
  ])('%s', async (_, place, answer) => {
    const one = await asked(['workload-pace']);
    const reply = await send(`${one.link}/answers`, { question: one.ids[place], ...answer });
    expect(reply.status).toBe(400);
    expect(await stored(one)).toEqual({});
  });

  test('without JavaScript, for a question that does not allow it', async () => {
    const one = await asked([]);
    expect((await send(one.link, `q${one.ids[0]}=${none}`)).status).toBe(400);
    expect(await stored(one)).toEqual({});
  });

  test('by a question for free text, which people can skip', async () => {
    await expect(asked(['works-well'])).rejects.toThrow('Questions for free text can’t allow');
  });
});

describe('a change of the question while the week is open', () => {
  test('changes neither what the page offers nor what is accepted', async () => {
    const one = await asked(['workload-pace']);
    await allow(one.accountId, ['workload-pace'], false);
    await allow(one.accountId, ['workload-rested'], true);
    expect(offeredIn(one, (await send(one.link)).text)).toEqual(['workload-pace']);
    const give = (place: number) =>
      send(`${one.link}/answers`, { question: one.ids[place], notApplicable: true });
    expect([(await give(0)).status, (await give(1)).status]).toEqual([204, 400]);
  });
});

test('its value in the form is never the ID of an option', () => {
  const options = [none, `${none}-`].map((id) => ({ id, text: id }));
  expect(notApplicableIn({ options })).toBe(`${none}--`);
});
