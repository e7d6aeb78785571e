// One person, one answer a week, over all channels, in any order (rules.md P13, P14): personal links, cards at /go and at a kiosk, in
// several browsers, while cards are replaced and links are handed out. Compared with a model in which the first answer to a question
// stays, unless it is changed in the same visit.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CardKey, cardKeyOf } from '../../cards/card-key.ts';
import { inTransaction } from '../../db/db.ts';
import { closeWeek } from '../../results/close-week.ts';
import { issueCards, openCard } from '../../rounds/card-links.ts';
import { exportLinks } from '../../rounds/links.ts';
import { createAccount } from '../../accounts/accounts.ts';
import { type AskedAccount, askPeople } from '../../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { cases } from '../../testing/house/cases.ts';
import { answersOfPerson } from '../../testing/kept-answers.ts';
import { openLink, saveAnswers } from '../answering.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(async () => database?.close());

const people = 5; // as many as the threshold, so that the figures show how many answers were counted

type Channel = 'mail' | 'card' | 'handedOut';
type Step =
  | { kind: 'answer'; person: number; channel: Channel; browser: number; value: number }
  | { kind: 'replace'; person: number };

const person = fc.nat(people - 1);
const answer = fc.record({
  kind: fc.constant('answer' as const),
  person,
  channel: fc.constantFrom<Channel>('mail', 'card', 'card', 'handedOut'),
  browser: fc.nat(1),
  value: fc.integer({ min: 1, max: 5 }),
});
const replace = fc.record({ kind: fc.constant('replace' as const), person });
/** Steps that happen at the same time, group after group. */
const history = fc.array(
  fc.array(fc.oneof({ weight: 6, arbitrary: answer }, { weight: 1, arbitrary: replace }), {
    minLength: 1,
    maxLength: 3,
  }),
  { minLength: 4, maxLength: 14 },
);

type Given = { value: number; link: string; browser: number };

/** A survey, the cards of its people, and what is expected to be stored. */
class Play {
  readonly asked: AskedAccount;
  readonly #key: CardKey;
  readonly #question: number;
  readonly #links: Record<'mail' | 'handedOut', string[]>;
  readonly #codes: string[];
  /** Every answer that can be the stored one: more than one only if several were given at the same time. */
  readonly expected = new Map<number, Given[]>();

  constructor(asked: AskedAccount, key: CardKey, links: { handedOut: string[]; codes: string[] }) {
    this.asked = asked;
    this.#key = key;
    this.#question = asked.questionIds.get('workload-amount') as number;
    this.#links = { mail: asked.links, handedOut: links.handedOut };
    this.#codes = links.codes;
  }

  async #linkOf(at: number, channel: Channel): Promise<string | undefined> {
    if (channel !== 'card') return this.#links[channel][at];
    const { pool, keys } = database;
    const opened = await openCard(pool, keys.secrets, this.#codes[at] as string, {
      channels: { mail: false, sms: false },
    });
    return opened?.link ?? undefined;
  }

  async #replace(at: number): Promise<void> {
    const { accountId, userIds } = this.asked;
    const [code] = await inTransaction(database.pool, (tx) =>
      issueCards(tx, this.#key, { accountId, by: userIds[0] as number }, [userIds[at] as number]),
    );
    this.#codes[at] = code as string;
  }

  /** Gives an answer; returns what was given, or undefined if it was refused. */
  async #answer({
    person: at,
    channel,
    browser,
    value,
  }: Extract<Step, { kind: 'answer' }>): Promise<Given | undefined> {
    const link = await this.#linkOf(at, channel);
    if (link === undefined) return undefined;
    const { pool, keys } = database;
    const visit = { link, visit: `${browser}`.repeat(27) };
    const given = { questionId: this.#question, value };
    const outcome = await saveAnswers(pool, keys, visit, [given]).catch((error: { kind?: string }) => {
      if (error.kind !== 'invalid') throw error;
      return 'refused';
    });
    return outcome === 'kept' ? { value, link, browser } : undefined;
  }

  /** Takes steps at the same time. Returns the people whose stored answers are not what is expected then. */
  async play(steps: Step[]): Promise<string[]> {
    const done = await Promise.all(
      steps.map(async (step) => ({
        step,
        given: step.kind === 'answer' ? await this.#answer(step) : await this.#replace(step.person),
      })),
    );
    for (const at of Array.from({ length: people }, (_, i) => i)) {
      const given = done.flatMap(({ step, given: one }) => (step.person === at && one ? [one] : []));
      if (given.length === 0) continue;
      const before = this.expected.get(at);
      const isSame = (one: Given, other: Given) => one.link === other.link && one.browser === other.browser;
      const next = (before ?? given).flatMap((first) => [
        ...(before && given.some((one) => isSame(one, first)) ? [] : [first]),
        ...given.filter((one) => isSame(one, first)),
      ]);
      this.expected.set(at, next);
    }
    return this.#faults();
  }

  /** Returns the people whose stored answers are not what is expected. */
  async #faults(): Promise<string[]> {
    const { accountId, week, userIds } = this.asked;
    const found: string[] = [];
    for (const [at, possible] of this.expected) {
      const stored = await answersOfPerson(database, accountId, week, userIds[at] as number);
      const value = stored.get(this.#question)?.value;
      const left = possible.filter((one) => one.value === value);
      if (left.length === 0 || stored.size !== 1) {
        found.push(
          `person ${at}: ${stored.size} answers, ${value} instead of ${possible.map((one) => one.value).join(' or ')}`,
        );
      }
      this.expected.set(at, left);
    }
    return found;
  }

  /** Closes the week. Returns what a card showed before, how many answers were stored and counted, and what the cards open now. */
  async end(): Promise<object> {
    const { pool, keys } = database;
    const { accountId, week, groupId } = this.asked;
    const shown: unknown[] = [];
    for (const at of this.expected.keys()) {
      const link = (await this.#linkOf(at, 'card')) as string;
      const asking = await openLink(pool, keys, { link, visit: '0'.repeat(27) });
      shown.push([asking?.answers.size, asking?.fixed.size, asking?.isFromCard]);
    }
    const rows = await pool`select 1 from answers where account_id = ${accountId} and week = ${week}`;
    await inTransaction(pool, (tx) => closeWeek(tx, keys, accountId, week));
    const [figure] = await pool<{ count: number | null }[]>`
      select answers as count from results
      where  account_id = ${accountId} and week = ${week} and group_id = ${groupId} and question_id = ${this.#question}`;
    const opened = await Promise.all(
      this.#codes.map((code) =>
        openCard(pool, keys.secrets, code, { channels: { mail: false, sms: false } }),
      ),
    );
    return {
      shown,
      stored: rows.length,
      counted: figure?.count ?? 0,
      opened: opened.map((one) => one?.link),
    };
  }
}

async function begin(): Promise<Play> {
  const { pool, keys } = database;
  const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Channels' }));
  const asked = await askPeople(database, id, { count: people });
  const key = await cardKeyOf(pool, keys.secrets);
  const [codes, exported] = await inTransaction(pool, async (tx) => [
    await issueCards(tx, key, { accountId: id, by: asked.userIds[0] as number }, asked.userIds),
    await exportLinks(tx, id, 'http://x', { channels: { mail: false, sms: false }, by: null }),
  ]);
  const handedOut = exported.links.map(({ link }) => link.slice(-27));
  return new Play(asked, key, { codes, handedOut });
}

test('whatever the order of channels, browsers and replaced cards, each person has one answer, and it is counted once', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (groups) => {
      const play = await begin();
      for (const steps of groups) expect(await play.play(steps)).toEqual([]);
      const answered = play.expected.size;
      expect(await play.end()).toEqual({
        shown: Array.from({ length: answered }, () => [0, 0, true]),
        stored: answered,
        counted: answered === people ? people : 0, // fewer are withheld
        opened: Array.from({ length: people }, () => null),
      });
    }),
    { ...cases(6), endOnFailure: true },
  );
});
