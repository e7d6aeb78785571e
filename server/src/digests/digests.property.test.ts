// Whatever order weeks close in, and wherever a process is killed: each person gets at most one digest in a calendar week, and every
// closed week is in one of them.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSilentSmtp, type SilentSmtp } from '../mail/silent-smtp.fixture.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { cases } from '../testing/house/cases.ts';
import { until } from '../testing/until.ts';
import {
  close,
  day,
  minute,
  mondayAfter,
  newPerson,
  senderOf,
  surveyed,
  type SurveyedAccount,
} from './digests.fixture.ts';
import { takeRecipients } from './digests.sql.ts';
import { mondayOf } from './digest-times.ts';
import { queueDigests } from './digests.ts';

const weeks = 4;
const zones = { anna: 'Europe/Stockholm', otto: 'America/Los_Angeles', kim: 'Pacific/Auckland' };

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

type Step =
  /** Closes the next week, early or when it has ended. */
  | { kind: 'close' }
  /** Time passes, in hours. */
  | { kind: 'wait'; hours: number }
  /** The job runs: with a server that takes everything, hangs up after an email, or is away; or in two processes at the same time. */
  | { kind: 'send'; server: 'takes' | 'hangs up' | 'away' | 'two' }
  /** A process is killed: after queueing, after taking, or while the mail server has the email. */
  | { kind: 'killed'; after: 'queueing' | 'taking' | 'sending' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({ kind: 'close' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.constantFrom(0.1, 1, 9, 26, 80) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      server: fc.constantFrom('takes' as const, 'hangs up' as const, 'away' as const, 'two' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('killed' as const),
      after: fc.constantFrom('queueing' as const, 'taking' as const, 'sending' as const),
    }),
  },
);

/** Runs steps on an account. */
class Run {
  readonly survey: SurveyedAccount;
  now = mondayAfter(-1) + day;
  closed = 0;
  readonly #servers: { smtp: SilentSmtp; at: number }[] = [];

  constructor(survey: SurveyedAccount) {
    this.survey = survey;
  }

  async server(behaviour: 'takes' | 'hangs up' | 'silent'): Promise<SilentSmtp> {
    const smtp = await openSilentSmtp(() => behaviour);
    this.#servers.push({ smtp, at: this.now });
    return smtp;
  }

  async take(one: Step): Promise<void> {
    const { pool } = database;
    if (one.kind === 'wait') this.now += one.hours * 60 * minute;
    else if (one.kind === 'close') {
      if (this.closed < weeks) await close(database, this.survey, this.closed++, { now: this.now });
    } else if (one.kind === 'send') {
      const smtp = await this.server(one.server === 'hangs up' ? 'hangs up' : 'takes');
      if (one.server === 'away') await smtp.close();
      const senders = Array.from({ length: one.server === 'two' ? 2 : 1 }, () => senderOf(pool, smtp.url));
      await Promise.all(senders.map(({ send }) => send(this.now)));
    } else if (one.after === 'queueing') await queueDigests(pool, this.now);
    else if (one.after === 'taking') await takeRecipients(pool, this.now, 2);
    else await this.killWhileSending();
  }

  /** Starts a sender whose server never replies, and abandons it once an email has arrived, as if its process had been killed. */
  async killWhileSending(): Promise<void> {
    const smtp = await this.server('silent');
    let isDone = false;
    void senderOf(database.pool, smtp.url, 60_000)
      .send(this.now)
      .finally(() => (isDone = true));
    await until(async () => isDone || smtp.got.length > 0);
  }

  /** Lets enough time pass for everything to be sent. */
  async drain(): Promise<void> {
    while (this.closed < weeks) await this.take({ kind: 'close' });
    for (let i = 0; i < 6 * weeks; i++) {
      this.now += 30 * 60 * minute;
      await this.take({ kind: 'send', server: 'takes' });
    }
  }

  async end(): Promise<void> {
    for (const { smtp } of this.#servers) await smtp.close();
  }

  /** Returns the times at which a mail server got an email to a person: for each, the time of the call that sent it. */
  timesOf(name: string): number[] {
    return this.#servers.flatMap(({ smtp, at }) =>
      smtp.got.flatMap((to) => (to === `${name}@example.org` ? [at] : [])),
    );
  }
}

test('each person gets at most one digest a week and none is lost, whatever closes, fails or is killed when', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 24 }), async (steps) => {
      const { pool } = database;
      await pool`delete from digest_weeks`;
      await pool`delete from digests`;
      const survey = await surveyed(database, weeks);
      for (const [name, timezone] of Object.entries(zones))
        await newPerson(database, survey, name, 'Manager', { of: { adminOf: ['north', 'south'] }, timezone });
      const run = new Run(survey);
      try {
        for (const one of steps) await run.take(one);
        await run.drain();
      } finally {
        await run.end();
      }
      for (const [name, timezone] of Object.entries(zones)) {
        const times = run.timesOf(name).map((at) => mondayOf(at, timezone));
        expect(new Set(times).size).toBe(times.length);
        const rows = await pool<{ week: string; state: string }[]>`
          select week, state from digests join users using (account_id, user_id)
          where  account_id = ${survey.accountId} and email = ${`${name}@example.org`} order by week`;
        expect(rows.map(({ week }) => week)).toEqual(survey.weeks);
        // Each digest was given to a mail server exactly once, or is covered by the digest of a later week that was.
        const isGiven = ({ state }: { state: string }) => state === 'sent' || state === 'unknown';
        expect(rows.filter(isGiven)).toHaveLength(times.length);
        expect(rows.filter((row) => !isGiven(row) && row.state !== 'covered')).toEqual([]);
        expect(isGiven(rows.at(-1)!)).toBe(true);
      }
    }),
    cases(4),
  );
});

test.each(['2026-03-28', '2026-10-24'])(
  'a change of the clocks changes nothing about the hour: %s',
  async (saturday) => {
    const { digestTime } = await import('./digest-times.ts');
    for (const timezone of [...Object.values(zones), 'Asia/Kathmandu', 'UTC']) {
      for (let hours = 0; hours < 72; hours += 5) {
        const closedAt = Date.parse(`${saturday}T00:00:00Z`) + hours * 60 * minute;
        const time = digestTime(closedAt, { days: 0, hour: 8, timezone });
        const there = new Date(time).toLocaleString('en-GB', {
          timeZone: timezone,
          weekday: 'short',
          hour: '2-digit',
          minute: '2-digit',
        });
        expect(there).toMatch(/^(Mon|Tue|Wed|Thu|Fri),? 08:00$/);
        expect(time).toBeGreaterThanOrEqual(closedAt);
        expect(time - closedAt).toBeLessThanOrEqual(4 * day);
      }
    }
  },
);
