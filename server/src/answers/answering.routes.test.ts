// Answering over HTTP: what a link opens, what is stored, and that an invalid link reveals nothing.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startApp } from '../app.ts';
import { openLog } from '../base/log.ts';
import { inTransaction } from '../db/db.ts';
import { libraryFor } from '../questions/library.ts';
import { exportLinks } from '../rounds/links.ts';
import { personTokensFor } from '../rounds/messages/person-tokens.ts';
import { closeWeekNow } from '../results/close-week.ts';
import { askPeople, type AskedAccount, keysOfAllTypes, noon } from '../testing/asking.ts';
import { keptAnswers } from '../testing/kept-answers.ts';
import { openWorld, testConfig, type World } from '../testing/world.ts';

let world: World;
const lines: string[] = [];
beforeAll(async () => {
  const log = pino({ level: 'trace', base: null }, { write: (line) => void lines.push(line) });
  world = await openWorld(log, { trustProxy: ['127.0.0.1'] }, () => noon);
});
afterAll(() => world.close());

type Asked = AskedAccount & { link: string; ids: number[] };

async function asked(settings: Parameters<typeof askPeople>[2] = {}): Promise<Asked> {
  const { id } = await world.account();
  const one = await askPeople(world, id, { count: 1, keys: keysOfAllTypes, ...settings });
  const ids = keysOfAllTypes.map((key) => one.questionIds.get(key) as number);
  return { ...one, link: one.links[0] as string, ids };
}

type Reply = { status: number; headers: Headers; text: string };
let addresses = 0;
/** Sends a request from a new address. */
async function send(method: string, path: string, init: RequestInit = {}): Promise<Reply> {
  const reply = await fetch(world.address + path, {
    method,
    redirect: 'manual',
    ...init,
    headers: {
      'x-forwarded-for': `198.51.100.${addresses++ % 250}`,
      ...(init.headers as Record<string, string>),
    },
  });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}
/** The browser session of all requests: a page read in it shows what was answered in it. */
const cookie = `soundings_visit=${'v'.repeat(27)}`;
const sendForm = (link: string, form: string, query = '') =>
  send('POST', `/a/${link}${query}`, {
    headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
    body: form,
  });
const sendAnswer = (
  link: string,
  body: unknown,
  init: { headers?: Record<string, string>; query?: string } = {},
) =>
  send('POST', `/a/${link}/answers${init.query ?? ''}`, {
    headers: { 'content-type': 'application/json', cookie, ...init.headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

/** Returns the path where the person turns off reminders. */
const optOutPath = async ({ accountId, userIds }: AskedAccount) =>
  `/r/${(await personTokensFor(world.pool, 'reminders', [{ accountId, userId: userIds[0] as number }]))[0]}`;

/** Returns a page as it is sent, before decompression. */
async function receive(
  path: string,
  encoding?: string,
): Promise<{ headers: IncomingHttpHeaders; bytes: Buffer }> {
  const outgoing = request(world.address + path, {
    headers: encoding === undefined ? {} : { 'accept-encoding': encoding },
  });
  outgoing.end();
  const [reply] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { headers: reply.headers, bytes: await buffer(reply) };
}

const storedAnswers = async ({ accountId, questionIds, week }: AskedAccount) => {
  const rows = await keptAnswers(world, accountId, week);
  const keyOf = new Map([...questionIds].map(([key, id]) => [id, key]));
  return Object.fromEntries(
    rows.map(({ questionId, value, choices, comment, skipped }) => [
      keyOf.get(questionId),
      [value, choices, comment, skipped],
    ]),
  );
};

describe('GET /a/:link', () => {
  test('200: the page allows only its own style and script, and is neither cached nor indexed', async () => {
    const { link } = await asked();
    const { status, headers, text } = await send('GET', `/a/${link}`);
    expect(status).toBe(200);
    expect(text).toContain('Hi P1');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-robots-tag')).toBe('noindex, nofollow');
    const hashes = [...text.matchAll(/<(style|script)>([\s\S]*?)<\/\1>/g)].map(
      ([, name, content]) =>
        `${name}-src 'sha256-${createHash('sha256')
          .update(content as string)
          .digest('base64')}'`,
    );
    expect(hashes).toHaveLength(2);
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; ${hashes.join('; ')}; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
  });

  test('GET and HEAD record nothing, so that programs may scan mail', async () => {
    const one = await asked();
    const dump = () =>
      world.pool`select (select json_agg(p) from participants p where account_id = ${one.accountId}) as who,
                        (select json_agg(a) from answers a where account_id = ${one.accountId}) as answers,
                        (select json_agg(s) from reminder_opt_outs s where account_id = ${one.accountId}) as opt_outs`;
    const before = await dump();
    for (const method of ['GET', 'HEAD']) {
      for (const query of ['', '?saved', '?empty', '?language=sv']) {
        const reply = await send(method, `/a/${one.link}${query}`);
        expect([reply.status, reply.text === '']).toEqual([200, method === 'HEAD']);
      }
      for (const query of ['', '?stop', '?again']) {
        const reply = await send(method, `${await optOutPath(one)}${query}`);
        expect([reply.status, reply.text === '']).toEqual([200, method === 'HEAD']);
      }
    }
    expect(await dump()).toEqual(before);
  });

  test("200: in the person's language or the requested one, which the form keeps", async () => {
    const { link } = await asked({ language: 'sv' });
    expect((await send('GET', `/a/${link}`)).text).toContain('Hej P1');
    const { text } = await send('GET', `/a/${link}?language=de`);
    expect(text).toContain('Hallo P1');
    expect(text).toContain('action="?language=de"');
    expect((await sendForm(link, 's1=1', '?language=de')).text).toContain(
      'Diese Antworten sind noch nicht gespeichert',
    );
  });

  test('200: says after an empty form that nothing is answered yet', async () => {
    const { link, ids } = await asked();
    const sent = await sendForm(link, ids.map((id) => `c${id}=`).join('&'));
    expect(sent.headers.get('location')).toBe('?language=en&empty');
    for (const query of ['empty', 'saved']) {
      expect((await send('GET', `/a/${link}?language=en&${query}`)).text).toContain(
        'You haven’t answered any questions on this page yet.',
      );
    }
  });

  test('200: compressed as the browser accepts it, under 30 KB even with 30 or 47 questions', async () => {
    const all = libraryFor('en').questions.map(({ key }) => key);
    for (const count of [30, 47]) {
      const { link } = await asked({ keys: all.slice(0, count) });
      const plain = await receive(`/a/${link}?language=sv`);
      expect(plain.headers['content-encoding']).toBeUndefined();
      expect(plain.bytes.length).toBeGreaterThan(30_000);
      expect(plain.bytes.toString().match(/class="card"/g)).toHaveLength(count);
      for (const [encoding, unpack] of [
        ['gzip', gunzipSync],
        ['br', brotliDecompressSync],
      ] as const) {
        const { headers, bytes } = await receive(`/a/${link}?language=sv`, encoding);
        expect(headers).toMatchObject({
          'content-encoding': encoding,
          'content-length': String(bytes.length),
          vary: 'accept-encoding, accept-language, cookie',
        });
        expect(bytes.length, `${count} questions, ${encoding}`).toBeLessThan(30_000);
        expect(unpack(bytes).equals(plain.bytes)).toBe(true);
      }
    }
  });

  test('with a handed-out link, no one sees what was answered or whether anything was, or changes it', async () => {
    const one = await asked();
    const { links } = await inTransaction(world.pool, (tx) =>
      exportLinks(tx, one.accountId, '', { channels: { mail: false, sms: false }, by: null }),
    );
    const path = links[0]?.link as string;
    const seen = () =>
      Promise.all(['', '?saved', '?empty'].map(async (query) => (await send('GET', path + query)).text));
    const before = await seen();
    const form = `q${one.ids[0]}=4&c${one.ids[0]}=Because`;
    expect((await sendForm(one.link, form)).status).toBe(303);
    expect(await seen()).toEqual(before);
    for (const i of [0, 2]) expect(before[i]).toContain('already been answered in another way');
    expect(before[1]).toContain('Your answers have been received.');
    expect(before[1]).not.toContain('still unanswered');
    expect((await send('GET', `/a/${one.link}`)).text).not.toContain('handed out');
    // Responses are the same whether an answer is stored or an earlier one stays, also for each question alone.
    for (const sent of [`q${one.ids[0]}=1&q${one.ids[1]}=2`, `q${one.ids[0]}=1`, `q${one.ids[1]}=2`]) {
      const { status, headers } = await sendForm(path.slice(3), sent);
      expect([status, headers.get('location')]).toEqual([303, '?language=en&saved']);
    }
    for (const i of [0, 1]) {
      const body = JSON.stringify({ question: one.ids[i], value: 2 });
      const json = { method: 'POST', headers: { 'content-type': 'application/json', cookie }, body };
      expect((await fetch(`${world.address}${path}/answers`, json)).status).toBe(204);
    }
    expect(await seen()).toEqual(before);
    expect(await storedAnswers(one)).toEqual({
      'workload-pace': [4, null, 'Because', false],
      'workload-rested': [2, null, null, false],
    });
  });
});

describe('POST /a/:link', () => {
  test('303: the whole form is saved, and shown again', async () => {
    const one = await asked();
    const [a, b, c, d, e, f, g] = one.ids;
    const form = `q${a}=4&c${a}=Because%0D%0Aso&q${b}=10&c${b}=&s${c}=1&q${d}=no&q${e}=goals&q${f}=&c${g}=%3Cb%3E`;
    const sent = await sendForm(one.link, form);
    expect([sent.status, sent.headers.get('location')]).toEqual([303, '?language=en&saved']);
    expect(await storedAnswers(one)).toEqual({
      'workload-pace': [4, null, 'Because\nso', false],
      'workload-rested': [10, null, null, false],
      'engagement-recommend': [null, null, null, true],
      'clarity-contact': [0, null, null, false],
      'help-most': [null, ['goals'], null, false],
      'energy-givers': [null, [], null, false],
      'works-well': [null, null, '<b>', false],
    });
    const thanks = await send('GET', `/a/${one.link}?language=en&saved`, { headers: { cookie } });
    expect(thanks.text).toContain('Thank you, P1!');
    expect(thanks.text).toContain('until the end of Sunday 22 November');
    const { text } = await send('GET', `/a/${one.link}`, { headers: { cookie } });
    expect(text).toContain(`name="q${a}" value="4" checked`);
    expect(text).toContain('>\n&lt;b&gt;</textarea>');
    // Another browser sees only that it is answered.
    const elsewhere = await send('GET', `/a/${one.link}`);
    expect(elsewhere.text).toContain('All questions are answered, P1');
    expect(elsewhere.text).not.toMatch(/value="4" checked|Because|&lt;b&gt;/);
  });

  test('400: each error is shown at its question with what was entered, and nothing is saved', async () => {
    const one = await asked();
    const [a, b, , , , f, g] = one.ids as [number, number, number, number, number, number, number];
    const long = 'å'.repeat(10_001);
    const form = new URLSearchParams([
      [`q${a}`, '3'],
      [`c${b}`, 'no number, but "words"'],
      [`q${f}`, 'nonsense'],
      [`c${g}`, long],
      ['q999999', '1'],
    ]);
    const { status, text } = await sendForm(one.link, form.toString(), '?language=sv');
    expect(status).toBe(400);
    expect(await storedAnswers(one)).toEqual({});
    for (const [id, label] of [
      [b, 'Fråga 2: Välj ett svar så att din kommentar kan sparas.'],
      [f, 'Fråga 6: Välj ett av svaren som visas.'],
      [g, 'Fråga 7: Korta ner kommentaren till 10\u00a0000 tecken.'],
    ] as const) {
      expect(text).toContain(`<li><a href="#q${id}">${label}</a></li>`);
      expect(text).toMatch(new RegExp(`<p class="fault" id="f${id}" role="alert">[^<]`));
      expect(text).toMatch(
        new RegExp(
          `aria-invalid="true" aria-describedby="f${id}"|aria-describedby="h${id} f${id}" aria-invalid="true"`,
        ),
      );
    }
    expect(text).toContain('<li>Ett av svaren gäller en fråga som du inte har fått.</li>');
    expect(text).toContain('<title>De här svaren är inte sparade än – ');
    expect(text).toContain(`name="q${a}" value="3" checked`);
    expect(text).toContain('>\nno number, but &quot;words&quot;</textarea>');
    expect(text).toContain(long);
  });

  test('413 and 415: a readable page, and nothing is saved', async () => {
    const one = await asked();
    const large = await sendForm(one.link, `c${one.ids[6]}=${'a'.repeat(1024 * 1024)}`);
    expect([large.status, large.text.includes('Too much text')]).toEqual([413, true]);
    const text = await send('POST', `/a/${one.link}`, {
      headers: { 'content-type': 'text/plain' },
      body: 'q1=1',
    });
    const form = new FormData();
    form.set(`q${one.ids[0]}`, '1');
    const parts = await send('POST', `/a/${one.link}`, { body: form });
    for (const { status, headers } of [text, parts]) {
      expect([status, headers.get('content-type')]).toEqual([415, 'text/html; charset=utf-8']);
    }
    expect(await storedAnswers(one)).toEqual({});
  });
});

describe('POST /a/:link/answers', () => {
  test('204: each answer is saved as it is given, and replaces the one before', async () => {
    const one = await asked();
    const [a, , c, d, , f, g] = one.ids;
    for (const body of [
      { question: a, value: 2 },
      { question: a, value: 5, comment: 'å\n"' },
      { question: c, value: 0, comment: null, skipped: false },
      { question: d, value: true },
      { question: f, value: [] },
      { question: g, skipped: true },
    ]) {
      const { status, text } = await sendAnswer(one.link, body);
      expect([status, text]).toEqual([204, '']);
    }
    expect(await storedAnswers(one)).toEqual({
      'workload-pace': [5, null, 'å\n"', false],
      'engagement-recommend': [0, null, null, false],
      'clarity-contact': [1, null, null, false],
      'energy-givers': [null, [], null, false],
      'works-well': [null, null, null, true],
    });
  });

  test("400: a message in the page's language for values out of range, questions not asked, and invalid answers, and nothing is saved", async () => {
    const one = await asked();
    const [a, b, , d, e, f, g] = one.ids;
    const wrong = [
      { question: a, value: 6 },
      { question: a, value: '5' },
      { question: a },
      { question: b, value: 0 },
      { question: d, value: 'yes' },
      { question: e, value: 'nonsense' },
      { question: f, value: ['goals'] },
      { question: g, value: 1, comment: 'x' },
      { question: g, comment: ' ' },
      { question: a, value: 1, skipped: true },
      { question: 999_999, value: 1 },
      { question: 1.5, value: 1 },
      { question: String(a), value: 1 },
      { question: a, value: 1, person: 'someone else' },
      { question: a, value: 1, comment: 7 },
      { question: a, value: 1, skipped: 'no' },
      `{"question":${a},"value":1,"comment":"\\u0000"}`,
      `{"question":${a},"value":1,"value":2}`,
      '[]',
      'null',
      '{',
    ];
    for (const body of wrong) {
      const reply = await sendAnswer(one.link, body, { query: '?language=sv' });
      expect([reply.status, reply.text], `${JSON.stringify(body)}`).toEqual([
        400,
        '{"message":"Välj ett av svaren som visas."}',
      ]);
    }
    const long = await sendAnswer(one.link, { question: a, value: 1, comment: 'x'.repeat(10_001) });
    expect([long.status, long.text]).toEqual([
      400,
      '{"message":"Shorten the comment to 10,000 characters."}',
    ]);
    const large = await sendAnswer(one.link, { question: a, value: 1, comment: 'x'.repeat(70_000) });
    expect(large.status).toBe(413);
    expect(await storedAnswers(one)).toEqual({});
  });

  test("403: for requests from another website's page, at each address that records something", async () => {
    const one = await asked();
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'sec-fetch-site': site };
      expect((await sendAnswer(one.link, { question: one.ids[0], value: 1 }, { headers })).status).toBe(403);
      for (const path of [`/a/${one.link}`, await optOutPath(one)]) {
        const reply = await send('POST', path, {
          headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
          body: `q${one.ids[0]}=1`,
        });
        expect([reply.status, reply.text.includes('another website')]).toEqual([403, true]);
      }
      expect((await send('GET', `/a/${one.link}`, { headers })).status).toBe(200);
    }
    expect(await storedAnswers(one)).toEqual({});
    expect(await optOuts(one)).toBe(0);
    const headers = { 'sec-fetch-site': 'same-origin' };
    expect((await sendAnswer(one.link, { question: one.ids[0], value: 1 }, { headers })).status).toBe(204);
  });
});

const optOuts = async ({ accountId }: AskedAccount) =>
  (await world.pool`select 1 from reminder_opt_outs where account_id = ${accountId}`).length;
const stopped = async ({ accountId }: AskedAccount) =>
  (await world.pool`select 1 from reminder_opt_outs where account_id = ${accountId} and all_emails`).length;

describe('/r/:token', () => {
  const buttonsOf = (text: string) =>
    [...text.matchAll(/action="([^"]*)"><button[^>]*>([^<]*)/g)].map(([, action, label]) => [action, label]);

  test('GET changes nothing, POST turns off reminders or all survey messages and says so, and one more button turns them on', async () => {
    const one = await asked({ language: 'de' });
    const path = await optOutPath(one);
    const shown = await send('GET', path);
    const none = ['?none', 'Alle Umfrage-Nachrichten abbestellen'];
    expect(buttonsOf(shown.text)).toEqual([['?stop', 'Erinnerungen abbestellen'], none]);
    for (const query of ['', '?none', '?stop']) await send('GET', `${path}${query}`);
    expect(await optOuts(one)).toBe(0);
    for (const method of ['POST', 'GET']) {
      const reply = await send(
        method,
        `${path}?stop`,
        method === 'POST' ? { body: new URLSearchParams() } : {},
      );
      expect([reply.status, reply.text.includes('Die Erinnerungen sind abbestellt')]).toEqual([200, true]);
      expect(buttonsOf(reply.text)).toEqual([['?again', 'Erinnerungen wieder erhalten'], none]);
      expect([await optOuts(one), await stopped(one)]).toEqual([1, 0]);
    }
    const all = await send('POST', `${path}?none`, { body: new URLSearchParams() });
    expect([all.status, all.text.includes('Die Umfrage-Nachrichten sind abbestellt')]).toEqual([200, true]);
    expect(buttonsOf(all.text)).toEqual([['?again', 'Umfrage-Nachrichten wieder erhalten']]);
    expect(await stopped(one)).toBe(1);
    const again = await send('POST', `${path}?again`, { body: new URLSearchParams() });
    expect([again.status, again.text.includes('Du bekommst wieder Umfrage-Nachrichten')]).toEqual([
      200,
      true,
    ]);
    expect(buttonsOf(again.text)).toEqual([['?stop', 'Erinnerungen abbestellen'], none]);
    expect(await optOuts(one)).toBe(0);
  });

  test('mail programs can do it with one click (RFC 8058), in each form that they send', async () => {
    const parts = new FormData();
    parts.set('List-Unsubscribe', 'One-Click');
    for (const body of [parts, new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })]) {
      const one = await asked();
      // The address in reminders of earlier versions turned off only reminders.
      expect((await send('POST', await optOutPath(one), { body })).status).toBe(200);
      expect([await optOuts(one), await stopped(one)]).toEqual([1, 0]);
      expect((await send('POST', `${await optOutPath(one)}?none`, { body })).status).toBe(200);
      expect(await stopped(one)).toBe(1);
    }
  });

  test('still works after the week has closed', async () => {
    const one = await asked();
    const path = await optOutPath(one);
    await closeWeekNow(world.pool, world.keys, one.accountId, one.week, noon);
    expect((await send('GET', `/a/${one.link}`)).status).toBe(404);
    expect((await send('GET', path)).status).toBe(200);
    expect((await send('POST', path)).status).toBe(200);
    expect(await optOuts(one)).toBe(1);
  });
});

describe("a link that doesn't work", () => {
  test('gets the same page, byte for byte, whether it is wrong, old, replaced or cut off, and records nothing', async () => {
    const [replaced, closed, alive] = [await asked(), await asked(), await asked()];
    const handOut = () =>
      inTransaction(world.pool, (tx) =>
        exportLinks(tx, replaced.accountId, '', {
          isReplacing: true,
          channels: { mail: false, sms: false },
          by: null,
        }),
      );
    const { links: handedOut } = await handOut();
    await handOut();
    await closeWeekNow(world.pool, world.keys, closed.accountId, closed.week, noon);
    const removed = await asked();
    const optOutOfRemoved = await optOutPath(removed);
    await world.pool`delete from users where account_id = ${removed.accountId}`;
    const working = await optOutPath(alive);
    const deadOptOuts = [
      optOutOfRemoved,
      working.slice(0, -1),
      `${working}A`,
      `${working.slice(0, -1)}${working.endsWith('A') ? 'B' : 'A'}`,
      '/r/x',
      '/r/%00',
      `/r/${'_'.repeat(32)}`,
    ];
    const dead = [
      handedOut[0]!.link.slice(3),
      closed.link,
      alive.link.slice(0, -1),
      `${alive.link.slice(0, -1)}${alive.link.endsWith('a') ? 'b' : 'a'}`,
      'x',
      '%00',
      '%C3%A5',
      '..%2F',
      'a'.repeat(5000),
    ];
    const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'q1=1&s2=1' };
    const pages = new Set<string>();
    for (const link of dead) {
      for (const reply of [
        await send('GET', `/a/${link}`),
        await send('GET', `/a/${link}/`),
        await send('GET', `/a/${link}?language=sv&saved`),
        await send('GET', `/r/${link}`),
        await send('POST', `/a/${link}`, form),
      ]) {
        expect(reply.status, `${link.slice(0, 40)}`).toBe(404);
        const { 'x-request-id': _id, date: _date, ...headers } = Object.fromEntries(reply.headers);
        pages.add(JSON.stringify([headers, reply.text]));
      }
      expect((await send('HEAD', `/a/${link}`)).status).toBe(404);
    }
    for (const path of deadOptOuts) {
      for (const [method, address] of [
        ['GET', path],
        ['GET', `${path}/`],
        ['POST', path],
        ['POST', `${path}?again`],
      ] as const) {
        const reply = await send(method, address, method === 'POST' ? form : {});
        expect(reply.status, `${path}`).toBe(404);
        const { 'x-request-id': _id, date: _date, ...headers } = Object.fromEntries(reply.headers);
        pages.add(JSON.stringify([headers, reply.text]));
      }
    }
    expect([...pages]).toHaveLength(1);
    expect([...pages][0]).toContain('This link doesn’t work');
    const messages = new Set<string>();
    for (const link of dead) {
      for (const body of [{ question: alive.ids[0], value: 1 }, 'nonsense']) {
        const { status, text } = await sendAnswer(link, body);
        messages.add(`${status} ${text}`);
      }
    }
    expect([...messages]).toEqual(['404 {"message":"This link doesn’t work"}']);
    expect([await optOuts(replaced), await optOuts(alive)]).toEqual([0, 0]);
    const swedish = await send('GET', '/a/x', { headers: { 'accept-language': 'sv' } });
    expect(swedish.text).toContain('Länken fungerar inte');
  });

  test('gets 429 with the same page after 30 requests from one address in a minute, while a valid link still works', async () => {
    const { link } = await asked();
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    const replies: Reply[] = [];
    for (let i = 0; i < 31; i++) replies.push(await send('GET', `/${i % 2 ? 'a' : 'r'}/x${i}`, { headers }));
    expect(replies.map(({ status }) => status)).toEqual([...Array<number>(30).fill(404), 429]);
    expect(replies[30]?.text).toBe(replies[0]?.text);
    expect(replies[30]?.headers.get('retry-after')).toBe('60');
    expect((await send('GET', `/a/${link}`, { headers })).status).toBe(200);
    expect((await send('GET', '/a/x')).status).toBe(404);
  });
});

describe('the log', () => {
  test('contains no link, answer or language, whatever happens to the request', async () => {
    const one = await asked();
    const path = await optOutPath(one);
    lines.length = 0;
    await send('GET', `/a/${one.link}?language=sv`);
    await send('PUT', `/a/${one.link}`);
    await send('GET', `/a/${one.link}/secret/more`);
    await send('GET', `/a/${one.link}%`);
    await send('POST', `/a/${one.link}`, { headers: { 'content-type': 'text/plain' }, body: 'my secret' });
    await sendForm(one.link, `c${one.ids[6]}=my+secret`);
    await sendForm(one.link, 'q999999=secret');
    await sendAnswer(one.link, { question: one.ids[6], comment: 'my secret' });
    await sendAnswer(one.link, 'secret');
    await send('POST', path, { body: new URLSearchParams({ secret: one.link }) });
    await send('GET', `${path}secret`);
    const answered = lines.filter((line) => line.includes('"request completed"'));
    expect(answered).toHaveLength(11);
    for (const line of lines) {
      expect(line).not.toContain(one.link.slice(0, 10));
      expect(line).not.toContain(path.slice(3, 20));
      expect(line).not.toMatch(/secret|language/);
    }
  });
});

describe('without a database', () => {
  test("503: a readable page with Retry-After, which returns the form's content for sending it again", async () => {
    const one = await asked();
    const { url, cut } = await openRelay(world.databaseUrl);
    const app = await startApp(
      { ...testConfig, answerKeys: world.keyPlace },
      Promise.resolve(url),
      openLog('silent'),
      () => noon,
    );
    onTestFinished(() => app.stop(1));
    await app.started;
    expect((await fetch(`${app.address}/a/${one.link}`)).status).toBe(200);
    cut();
    const page = await fetch(`${app.address}/a/${one.link}`, { headers: { 'accept-language': 'sv' } });
    expect([page.status, page.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await page.text()).toContain('Försök igen om en stund');
    const form = new URLSearchParams({ [`c${one.ids[6]}`]: 'a </textarea>\nb' });
    const sent = await fetch(`${app.address}/a/${one.link}`, { method: 'POST', body: form });
    expect(sent.status).toBe(503);
    expect(await sent.text()).toContain(
      `<form method="post"><textarea hidden name="c${one.ids[6]}">\na &lt;/textarea&gt;\nb</textarea><button`,
    );
    const response = await fetch(`${app.address}/a/${one.link}/answers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ question: one.ids[0], value: 1 }),
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await storedAnswers(one)).toEqual({});
  });

  test('503: a readable page even before the service has started', async () => {
    const url = Promise.withResolvers<string>();
    const app = await startApp(
      { ...testConfig, answerKeys: world.keyPlace },
      url.promise,
      openLog('silent'),
      () => noon,
    );
    onTestFinished(async () => {
      url.resolve(world.databaseUrl);
      await app.started;
      await app.stop(1);
    });
    for (const init of [{}, { method: 'POST', body: new URLSearchParams({ q1: '1' }) }]) {
      const page = await fetch(`${app.address}/a/anything`, init);
      expect([page.status, page.headers.get('retry-after')]).toEqual([503, '5']);
      expect(page.headers.get('cache-control')).toBe('no-store');
      expect(await page.text()).toContain('Please try again in a moment');
    }
  });
});

/** A TCP relay to the database that can be disconnected. */
async function openRelay(databaseUrl: string): Promise<{ url: string; cut: () => void }> {
  const to = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const relay = createServer((socket) => {
    const onward = connect(Number(to.port || 5432), to.hostname);
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
      one.pipe(other);
    }
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const cut = () => {
    relay.close();
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(cut);
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((relay.address() as AddressInfo).port);
  return { url: url.href, cut };
}
