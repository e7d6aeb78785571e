// Attacks on printed cards and kiosks by someone who guesses codes, finds or keeps a card, printed the cards, or has the database. Each
// must fail: a card lets its holder answer what is not answered yet, and nothing else (rules.md P9, P13, P14, P18).
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newCode } from '../../cards/card-code.ts';
import { inTransaction } from '../../db/db.ts';
import { closeWeekNow } from '../../results/close-week.ts';
import { storeCardLinks } from '../../rounds/card-links.ts';
import { newLinks } from '../../rounds/links.ts';
import { noon } from '../../testing/asking.ts';
import { keepOpen } from '../../testing/keep-open.ts';
import { answersOfPerson } from '../../testing/kept-answers.ts';
import { openSmtp, type TestSmtp } from '../../testing/smtp.ts';
import { openWorld, type World } from '../../testing/world.ts';
import { type CardOffice, enter, enterAt, newNetwork, openOffice, otherGroup } from './entry.fixture.ts';

let now = noon;
let world: World;
let mailing: World;
let smtp: TestSmtp;
beforeAll(async () => {
  smtp = await openSmtp({});
  // Without recurring jobs, which store the links of cards.
  world = await openWorld(undefined, { trustProxy: ['127.0.0.1'], role: 'web' }, () => now);
  mailing = await openWorld(undefined, { trustProxy: ['127.0.0.1'], smtpUrl: smtp.url }, () => now);
});
afterAll(async () => {
  await world?.close();
  await mailing?.close();
  await smtp?.close();
});

const wrongCode = () => newCode((below) => Math.floor(Math.random() * below));
const secret = 'Known to no one else';

/** Answers a question in a browser session of its own, and returns the status. */
async function save(
  at: World,
  link: string,
  body: object,
  visit = `${Math.random()}`.padEnd(27, '7'),
): Promise<number> {
  const reply = await fetch(`${at.address}${link}/answers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'soundings-visit': visit.replace('.', '0').slice(0, 27) },
    body: JSON.stringify(body),
  });
  return reply.status;
}

/** Returns the page of a link, without the random parts. */
async function pageAt(at: World, link: string, query = ''): Promise<{ status: number; text: string }> {
  const reply = await fetch(`${at.address}${link}${query}`);
  return { status: reply.status, text: await reply.text() };
}

const storedOf = ({ accountId, week, userIds }: CardOffice, place: number, at = world) =>
  answersOfPerson(at, accountId, week, userIds[place] as number);

describe('guessing codes', () => {
  test('is stopped after 30 wrong codes: even the right one is not looked up then, and later works again', async () => {
    const office = await openOffice(world);
    const [right] = (await office.print()) as [string];
    const { path } = await office.kiosk();
    for (const tried of [
      (code: string, headers: Record<string, string>) => enter(world, code, headers),
      (code: string, headers: Record<string, string>) => enterAt(world, path, code, headers),
    ]) {
      const network = newNetwork();
      // All at the same time, so that none is counted before the others are looked up.
      const guesses = await Promise.all(Array.from({ length: 100 }, () => tried(wrongCode(), network)));
      expect(guesses.filter(({ status }) => status === 404)).toHaveLength(30);
      expect(guesses.filter(({ status }) => status === 429)).toHaveLength(70);
      expect(await tried(right, network)).toMatchObject({ status: 429, link: null });
      now += 61_000;
      expect((await tried(right, network)).link).not.toBeNull();
    }
  });

  test('does not slow down those who have a card, nor does a slip', async () => {
    const office = await openOffice(world);
    const [right = ''] = await office.print();
    const network = newNetwork();
    for (let i = 0; i < 32; i++) expect((await enter(world, right, network)).status).toBe(303);
    for (let i = 0; i < 31; i++) expect((await enter(world, right.slice(0, -1), network)).status).toBe(400);
    expect((await enter(world, right, network)).status).toBe(303);
  });

  test('reveals nothing: every code that opens nothing gets the same response', async () => {
    const office = await openOffice(world, { count: 5 });
    const other = await openOffice(world);
    const codes = await office.print();
    const [foreign = ''] = await other.print();
    const [replaced = '', removed = '', inactive = '', erased = '', outside = ''] = codes;
    await office.print([office.userIds[0] as number]);
    const remove = { chosen: { ids: [office.userIds[1]] }, isPreview: false };
    expect((await office.request('POST /cards/removal', remove)).body).toEqual({ count: 1 });
    await world.pool`update users set active = false where user_id = ${office.userIds[2] as number} and account_id = ${office.accountId}`;
    await world.pool`delete from users where user_id = ${office.userIds[3] as number} and account_id = ${office.accountId}`;
    const everywhere = await office.kiosk();
    const inGroup = await office.kiosk(await otherGroup(world, office.accountId));

    const wrong = await enter(world, wrongCode());
    expect(wrong.status).toBe(404);
    for (const code of [replaced, removed, inactive, erased]) expect(await enter(world, code)).toEqual(wrong);
    const wrongAtKiosk = await enterAt(world, everywhere.path, wrongCode());
    expect(wrongAtKiosk).toEqual({ status: 404, link: null, text: '{}' });
    for (const code of [replaced, removed, inactive, erased, foreign])
      expect(await enterAt(world, everywhere.path, code)).toEqual(wrongAtKiosk);
    expect(await enterAt(world, inGroup.path, outside)).toEqual(wrongAtKiosk);
    // The same cards work where they should.
    expect((await enterAt(world, everywhere.path, outside)).link).not.toBeNull();
    expect((await enter(world, foreign)).link).not.toBeNull();
  });
});

describe('a card', () => {
  test('works once a week: used again, it shows and changes nothing, and not even whether it was used', async () => {
    const office = await openOffice(world);
    const [first = '', , unused = ''] = await office.print();
    const { path } = await office.kiosk();
    const link = (await enter(world, first)).link as string;
    expect(await save(world, link, { question: office.question, value: 4, comment: secret })).toBe(204);
    const before = await storedOf(office, 0);
    expect(before.get(office.question)).toMatchObject({
      value: 4,
      comment: secret,
      giving: { handedOut: true },
    });

    for (const again of [await enter(world, first), await enterAt(world, path, first)]) {
      expect(again.link).toBe(link);
      expect(await save(world, again.link as string, { question: office.question, value: 1 })).toBe(204);
      expect(await save(world, again.link as string, { question: office.question, skipped: true })).toBe(204);
    }
    expect(await storedOf(office, 0)).toEqual(before);
    // The pages of someone who has answered and of someone who hasn't are the same.
    const [used, fresh] = [link, (await enter(world, unused)).link as string];
    for (const query of ['', '?kiosk', '?saved', '?empty', '?language=sv']) {
      const pages = await Promise.all([used, fresh].map((one) => pageAt(world, one, query)));
      const [a, b] = pages.map(({ text }, i) => text.replaceAll(`P${i === 0 ? 1 : 3}`, 'NAME'));
      expect(a).toBe(b);
      expect(a).not.toContain(secret);
    }
  });

  test('printed later reads and changes nothing that was answered before', async () => {
    const office = await openOffice(world);
    const [userId] = office.userIds as [number];
    const [handedOut] = await newLinks(
      world.pool,
      [{ accountId: office.accountId, userId, week: office.week }],
      { by: null },
    );
    for (const earlier of [office.links[0], handedOut]) {
      await save(world, `/a/${earlier}`, { question: office.question, value: 5, comment: secret });
    }
    const before = await storedOf(office, 0);
    const [code = ''] = await office.print([userId]);
    const link = (await enter(world, code)).link as string;
    expect((await pageAt(world, link)).text).not.toContain(secret);
    expect(await save(world, link, { question: office.question, value: 1, comment: 'Mine' })).toBe(204);
    expect(await storedOf(office, 0)).toEqual(before);
  });

  test('that was replaced or removed opens nothing, and neither does the page that it had opened', async () => {
    const office = await openOffice(world);
    const codes = await office.print();
    const links = await Promise.all(codes.map(async (code) => (await enter(world, code)).link as string));
    const [again = ''] = await office.print([office.userIds[0] as number]);
    await office.request('POST /cards/removal', { chosen: { ids: [office.userIds[1]] }, isPreview: false });
    for (const old of links.slice(0, 2)) {
      expect((await pageAt(world, old)).status).toBe(404);
      expect(await save(world, old, { question: office.question, value: 1 })).toBe(404);
    }
    const next = (await enter(world, again)).link as string;
    expect(next).not.toBe(links[0]);
    expect(await save(world, next, { question: office.question, value: 3 })).toBe(204);
    expect((await storedOf(office, 0)).get(office.question)?.value).toBe(3);
    // The colleague's card still works.
    expect(await save(world, links[2] as string, { question: office.question, value: 2 })).toBe(204);
  });

  test.each([
    ['removed', false],
    ['replaced while the week is locked, and then removed', true],
  ])(
    'that is %s after it was used still marks the response rate as based on cards',
    async (_, isReplaced) => {
      const office = await openOffice(world, { count: 6 });
      const codes = await office.print();
      for (const code of codes) {
        const link = (await enter(world, code)).link as string;
        expect(await save(world, link, { question: office.question, skipped: true })).toBe(204);
      }
      if (isReplaced) {
        // As while live results are updated. The new cards get no links then.
        const release = await keepOpen(
          world.pool,
          (tx) => tx`select from weeks where account_id = ${office.accountId} for update`,
        );
        await office.print().finally(release);
      }
      const remove = { chosen: { ids: office.userIds }, isPreview: false };
      expect((await office.request('POST /cards/removal', remove)).body).toEqual({ count: 6 });
      await closeWeekNow(world.pool, world.keys, office.accountId, office.week, now);
      const rates = await world.pool`
      select answered, handed_out from response_rates where account_id = ${office.accountId}`;
      expect([...rates]).toEqual([{ answered: 6, handed_out: true }]);
    },
  );

  test('opens only the page of its owner, by a link that no other card leads to', async () => {
    const office = await openOffice(world, { count: 5 });
    const codes = await office.print();
    const links = await Promise.all(codes.map(async (code) => (await enter(world, code)).link as string));
    expect(new Set(links).size).toBe(5);
    for (const [i, link] of links.entries()) {
      expect((await pageAt(world, link)).text).toContain(`P${i + 1}`);
      await save(world, link, { question: office.question, value: i + 1 });
    }
    for (const i of links.keys()) expect((await storedOf(office, i)).get(office.question)?.value).toBe(i + 1);
  });

  test('does not work for people who get email from the service, even if it was printed before they had an address', async () => {
    const office = await openOffice(mailing);
    const codes = await office.print();
    const [, second = ''] = codes;
    const ids = office.userIds;
    await mailing.pool`
      update users set email = 'p' || user_id || '@example.org', email_key = 'p' || user_id || '@example.org'
      where  account_id = ${office.accountId} and user_id = ${ids[1] as number}`;
    const wrong = await enter(mailing, wrongCode());
    expect(await enter(mailing, second)).toEqual(wrong);
    const print = { chosen: { ids: [ids[1]] }, isReplacing: true, isPreview: false };
    expect(await office.request('POST /cards', print)).toMatchObject({ status: 409 });
    expect((await office.request('GET /cards')).body).toMatchObject({ withCard: 2, resting: 1 });
    // Nor if the address is taken away after an email was sent.
    await mailing.pool`
      insert into messages (account_id, user_id, week, schedule_id, kind, state, due_at, any_hour)
      select account_id, ${ids[2] as number}, week, schedule_id, 'invitation', 'sent', now(), true
      from   rounds where account_id = ${office.accountId} limit 1`;
    expect(await enter(mailing, codes[2] as string)).toEqual(wrong);
    expect((await enter(mailing, codes[0] as string)).status).toBe(303);
  });

  test('says without a round that there are no questions, and works again in the next week', async () => {
    const office = await openOffice(world);
    const [code = ''] = await office.print();
    const link = (await enter(world, code)).link as string;
    // As closing does.
    await world.pool`delete from links where account_id = ${office.accountId}`;
    await world.pool`delete from participants where account_id = ${office.accountId}`;
    expect((await pageAt(world, link)).status).toBe(404);
    const { status, link: none, text } = await enter(world, code);
    expect([status, none]).toEqual([200, null]);
    expect(text).toContain('Your card works, but there are no questions for you right now.');
  });
});

describe('a kiosk', () => {
  test('that was turned off opens no card, and its address shows nothing', async () => {
    const office = await openOffice(world);
    const [code = ''] = await office.print();
    const { id, path } = await office.kiosk();
    const other = await openOffice(world);
    expect((await other.request(`DELETE /kiosks/${id}`)).status).toBe(404);
    expect((await enterAt(world, path, code)).status).toBe(200);
    expect((await office.request(`DELETE /kiosks/${id}`)).status).toBe(204);
    expect(await enterAt(world, path, code)).toEqual({ status: 410, link: null, text: '{}' });
    const page = await fetch(world.address + path, { headers: newNetwork() });
    expect([page.status, (await page.text()).includes('Canteen')]).toEqual([404, false]);
    expect((await enter(world, code)).status).toBe(303);
  });

  test('leaves nothing in caches and sets no cookie, and its page runs only its own script', async () => {
    const office = await openOffice(world);
    const [code = ''] = await office.print();
    const { path } = await office.kiosk();
    const { link } = await enterAt(world, path, code);
    for (const address of [path, `${link}?kiosk`, '/go']) {
      const { headers } = await fetch(world.address + address);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('set-cookie')).toBeNull();
      expect(headers.get('content-security-policy')).toMatch(
        /default-src 'none'.*script-src 'sha256-[^' ]+'; connect-src 'self'/,
      );
    }
  });

  test('shows pages for wrong addresses and requests of other websites, with the style that their policy allows', async () => {
    const foreign = { method: 'POST', headers: { 'sec-fetch-site': 'cross-site', ...newNetwork() } };
    for (const [address, request] of [
      ['/k/abc', { headers: newNetwork() }],
      ['/go', foreign],
    ] as const) {
      const reply = await fetch(world.address + address, request);
      const [, style = ''] = /<style>([^]*)<\/style>/.exec(await reply.text()) ?? [];
      const hash = createHash('sha256').update(style).digest('base64');
      expect(style).not.toBe('');
      expect(reply.headers.get('content-security-policy')).toContain(`style-src 'sha256-${hash}'`);
    }
  });

  test('takes no group of another account, and no body makes it fail', async () => {
    const [office, other] = [await openOffice(world), await openOffice(world)];
    expect((await office.request('POST /kiosks', { name: 'X', groupId: other.groupId })).status).toBe(404);
    const { path } = await office.kiosk();
    for (const body of [
      '',
      '[]',
      'null',
      '{"code":5}',
      '{"code":{}}',
      '{'.repeat(1000),
      JSON.stringify({ code: 'x'.repeat(4000) }),
    ]) {
      const reply = await fetch(`${world.address}${path}/open`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      expect([body.slice(0, 12), reply.status]).toEqual([body.slice(0, 12), 400]);
    }
    for (const address of ['x', '%00', 'a'.repeat(27), '../go']) {
      const { status } = await fetch(`${world.address}/k/${address}`, { headers: newNetwork() });
      expect([404, 400, 200]).toContain(status);
    }
  });
});

describe('the database and the audit log', () => {
  test('contain no code, link or kiosk address, and no hash that could be computed from a guess', async () => {
    const office = await openOffice(world);
    const codes = await office.print();
    const { path } = await office.kiosk();
    const { link } = await enter(world, codes[0] as string);
    const tables = await world.pool<{ name: string }[]>`
      select c.relname as name from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`;
    const dumped: string[] = [];
    for (const { name } of tables) {
      const rows = await world.pool.unsafe(`select t::text as row from ${name} t`);
      dumped.push(...rows.map(({ row }) => row as string));
    }
    const all = dumped.join('\n').toLowerCase();
    const plain = codes.map((code) => code.replaceAll('-', ''));
    const hashed = [...codes, ...plain].map((code) => createHash('sha256').update(code).digest('hex'));
    const secrets = [...codes, ...plain, ...hashed, link?.slice(3), path.slice(3)];
    for (const one of secrets) expect(all).not.toContain((one as string).toLowerCase());
    expect(all).toContain('cards created');
  });

  test('do not show who has used a card: links are stored with the cards, and using a card stores nothing', async () => {
    const office = await openOffice(world, { count: 4 });
    const codes = await office.print();
    const stored = () => world.pool`
      select user_id, xmin::text from links where account_id = ${office.accountId} and from_card order by user_id`;
    const after = await stored();
    expect(after).toHaveLength(4);
    expect(new Set(after.map(({ xmin }) => xmin as string)).size).toBe(1);
    for (const code of codes) expect((await enter(world, code)).link).not.toBeNull();
    expect(await stored()).toEqual(after);
    // A card that replaces another one, while others are in use.
    const [replaced = ''] = await office.print([office.userIds[1] as number]);
    const again = await stored();
    expect(again).toHaveLength(4);
    expect((await enter(world, replaced)).link).not.toBeNull();
    expect(await stored()).toEqual(again);
  });

  test('do not show it either if people are asked after their cards were created: only the recurring job stores links', async () => {
    const office = await openOffice(world, { count: 4 });
    const codes = await office.print();
    await world.pool`delete from links where account_id = ${office.accountId}`; // as if they had just been asked
    for (const code of codes) expect((await enter(world, code)).link).toBeNull();
    const stored = () => world.pool`
      select user_id, xmin::text from links where account_id = ${office.accountId} order by user_id`;
    expect(await stored()).toHaveLength(0);
    await storeCardLinks(world.pool, world.keys.secrets);
    const after = await stored();
    expect(new Set(after.map(({ xmin }) => xmin as string)).size).toBe(1);
    expect(after).toHaveLength(4);
    await storeCardLinks(world.pool, world.keys.secrets);
    for (const code of codes) expect((await enter(world, code)).link).not.toBeNull();
    expect(await stored()).toEqual(after);
  });

  test('a card that is replaced while a week is closed gets no link, and neither waits for the other', async () => {
    const office = await openOffice(world, { count: 4 });
    await office.print();
    const release = await keepOpen(
      world.pool,
      (tx) => tx`select from weeks where account_id = ${office.accountId} for update`,
    );
    const [code = ''] = await office.print([office.userIds[1] as number]);
    expect((await enter(world, code)).link).toBeNull();
    await release();
    await storeCardLinks(world.pool, world.keys.secrets);
    expect((await enter(world, code)).link).not.toBeNull();
  });

  test('are enough for no one: with another secrets key, as in a copy of the database, cards open nothing', async () => {
    const office = await openOffice(world);
    const [code = ''] = await office.print();
    const before = await world.pool`select secret from card_keys`;
    await inTransaction(world.pool, async (tx) => {
      await tx`update card_keys set secret = set_byte(secret, 40, get_byte(secret, 40) # 1)`;
    });
    expect((await enter(world, code)).status).toBe(503);
    await world.pool`update card_keys set secret = ${before[0]?.['secret'] as Buffer}`;
    expect((await enter(world, code)).status).toBe(303);
  });
});
