// Whatever the gateway does, which process is killed when, and whatever changes about the people: each person gets at most one message of a kind
// over all channels, and none is lost unless its status is unknown or the gateway rejected it.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveAnswers } from '../../answers/answering.ts';
import { openPool } from '../../db/db.ts';
import { openMailer } from '../../mail/mailer.ts';
import { type Manner, openTestGateway, type TestGateway } from '../../sms/gateway.fixture.ts';
import { noon } from '../../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { cases } from '../../testing/house/cases.ts';
import { openSmtp, type TestSmtp } from '../../testing/smtp.ts';
import { until } from '../../testing/until.ts';
import { newLinks } from '../links.ts';
import { insertRefusal, takeDue } from './messages.sql.ts';
import { askByPhone, friday, minute, phoneOf, smsSenderOf, type TextedAccount } from './sms.fixture.ts';

/** More than the gateway gets at the same time, so that a process can hold messages that it has not begun to send. */
const people = 5;

let database: TestDatabase;
let mail: TestSmtp;
/** The addresses that the mail server rejects. */
const rejected = new Set<string>();
beforeAll(async () => {
  const refuseRecipient = (to: string) => (rejected.has(to) ? '550 5.1.1 no such user' : undefined);
  [database, mail] = await Promise.all([openTestDatabase(), openSmtp({ refuseRecipient })]);
});
afterAll(async () => {
  await mail.close();
  await database.close();
});

const manners = {
  takes: 'takes',
  'hangs up': 'hangs up',
  'hangs up early': 'hangs up early',
  down: { status: 500 },
  busy: { status: 429, headers: { 'retry-after': '900' } },
  rejecting: { status: 400 },
  away: 'takes',
} as const satisfies Record<string, Manner>;

type Step =
  | { kind: 'wait'; minutes: number }
  /** The job runs, in one or two processes. */
  | { kind: 'send'; gateway: keyof typeof manners; processes: 1 | 2 }
  /** A process is killed after it has taken messages, or while the gateway has one. */
  | { kind: 'killed'; after: 'taking' | 'sending' }
  /** A process waits for a gateway that accepts messages only after a while, and then continues. */
  | { kind: 'stalled' | 'resumed' }
  | { kind: 'answer' | 'new number' | 'email' | 'no email' | 'returned' | 'rejected'; person: number }
  | { kind: 'switch' };

const person = fc.nat(people - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.constantFrom(1, 7, 70, 900) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      gateway: fc.constantFrom(...(Object.keys(manners) as (keyof typeof manners)[])),
      processes: fc.constantFrom(1 as const, 2 as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('killed' as const),
      after: fc.constantFrom('taking' as const, 'sending' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'answer' as const,
        'new number' as const,
        'email' as const,
        'no email' as const,
        'returned' as const,
      ),
      person,
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('stalled' as const, 'resumed' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('rejected' as const), person }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'switch' as const }) },
);

/** Runs steps on an account. */
class Run {
  readonly account: TextedAccount;
  readonly #links: string[];
  readonly #gateways: { gateway: TestGateway; canAccept: boolean }[] = [];
  readonly #killed: Promise<unknown>[] = [];
  #stalled: (() => Promise<unknown>)[] = [];
  now = noon;

  constructor(account: TextedAccount, links: string[]) {
    this.account = account;
    this.#links = links;
  }

  async #open(manner: Manner): Promise<TestGateway> {
    const gateway = await openTestGateway(() => manner);
    this.#gateways.push({ gateway, canAccept: typeof manner === 'string' });
    return gateway;
  }

  #change(at: number, values: Record<string, string | null>) {
    const { accountId, userIds } = this.account;
    return database.pool`
      update users set ${database.pool(values)}
      where  account_id = ${accountId} and user_id = ${userIds[at] as number}`;
  }

  async take(one: Step): Promise<void> {
    const { pool, keys } = database;
    const { accountId, questionIds } = this.account;
    switch (one.kind) {
      case 'wait':
        this.now += one.minutes * minute;
        // The database's own clock decides when the message of a killed process is lost.
        await pool`update messages set begun_at = begun_at - make_interval(mins => ${one.minutes})`;
        return;
      case 'send':
        return this.#send(one.gateway, one.processes);
      case 'killed':
        if (one.after === 'sending') return this.#killWhileSending();
        await takeDue(pool, { channel: 'sms', channels: { mail: true, sms: true } }, this.now, 2);
        return;
      case 'stalled':
        return this.#stall();
      case 'resumed':
        return this.#resume();
      case 'answer': {
        const given = [{ questionId: questionIds.get('workload-amount') as number, value: 3 }];
        await saveAnswers(
          pool,
          keys,
          { link: this.#links[one.person] as string, visit: '1'.repeat(27) },
          given,
        );
        return;
      }
      case 'new number':
        return void (await this.#change(one.person, { phone: `${phoneOf(one.person + 1)}9` }));
      case 'email':
        return void (await this.#change(one.person, mailOf(one.person)));
      case 'no email':
        return void (await this.#change(one.person, { email: null, email_key: null }));
      case 'returned': {
        // The report arrives at any time, of this email or an earlier one.
        const userId = this.account.userIds[one.person] as number;
        const { email: address } = mailOf(one.person);
        return insertRefusal(pool, { accountId, userId }, { address, reason: 'unknown', isReturned: true });
      }
      case 'rejected': {
        // From now on, the mail server rejects emails to the person.
        const { email } = mailOf(one.person);
        rejected.add(email);
        return void (await this.#change(one.person, mailOf(one.person)));
      }
      case 'switch':
        await pool`update accounts set sms = not sms where account_id = ${accountId}`;
    }
  }

  async #send(kind: keyof typeof manners, processes: number): Promise<void> {
    const gateway = await this.#open(manners[kind]);
    if (kind === 'away') await gateway.close();
    const mailers = Array.from({ length: processes }, () =>
      openMailer(mail.url, 'hr@example.com', { connect: 2000 }),
    );
    const senders = mailers.map((mailer) => smsSenderOf(database, gateway.url, { mailer, response: 2000 }));
    await Promise.all(senders.map(({ send }) => send(this.now)));
    for (const mailer of mailers) mailer.close();
    if (kind !== 'away') await gateway.close();
  }

  /** Starts a process whose gateway never responds, and ends its connections to the database once a message has arrived. */
  async #killWhileSending(): Promise<void> {
    const gateway = await this.#open('silent');
    const pool = openPool(database.url, 3);
    let isDone = false;
    const { send } = smsSenderOf({ ...database, pool }, gateway.url, { response: 60_000 });
    this.#killed.push(
      send(this.now)
        .catch(() => {})
        .finally(() => (isDone = true)),
    );
    await until(async () => isDone || gateway.got.length > 0);
    await pool.end({ timeout: 0 });
  }

  async #stall(): Promise<void> {
    const released = Promise.withResolvers<Manner>();
    const gateway = await openTestGateway((request) => (request ? released.promise : 'takes'));
    this.#gateways.push({ gateway, canAccept: true });
    let isDone = false;
    const sending = smsSenderOf(database, gateway.url, { response: 60_000 })
      .send(this.now)
      .finally(() => (isDone = true));
    this.#stalled.push(() => (released.resolve('takes'), sending));
    await until(async () => isDone || gateway.got.length > 0);
  }

  async #resume(): Promise<void> {
    const stalled = this.#stalled;
    this.#stalled = [];
    for (const resume of stalled) await resume();
  }

  /** Lets enough time pass for everything to be sent. */
  async drain(): Promise<void> {
    await this.#resume();
    const { accountId } = this.account;
    await database.pool`update accounts set sms = true where account_id = ${accountId}`;
    for (let i = 0; i < 3; i++) {
      await this.take({ kind: 'wait', minutes: 61 });
      await this.take({ kind: 'send', gateway: 'takes', processes: 1 });
    }
    this.now = Math.max(this.now, friday);
    for (let i = 0; i < 3; i++) {
      await this.take({ kind: 'send', gateway: 'takes', processes: 1 });
      await this.take({ kind: 'wait', minutes: 130 });
    }
  }

  async end(): Promise<void> {
    await this.#resume();
    for (const { gateway } of this.#gateways) await gateway.close();
    await Promise.all(this.#killed);
  }

  /** Returns how many messages of a kind a person may have received: over both channels, on all their addresses. */
  received(at: number, kind: 'invitation' | 'reminder'): number {
    const texts = this.#gateways
      .filter(({ canAccept }) => canAccept)
      .flatMap(({ gateway }) => gateway.got)
      .filter(({ json }) => json.kind === kind && json.phone.startsWith(phoneOf(at + 1)));
    const mails = mail.mails.filter(
      ({ to, headers }) =>
        to[0] === mailOf(at).email && headers['subject']?.startsWith('Reminder') === (kind === 'reminder'),
    );
    return texts.length + mails.length;
  }
}

const mailOf = (at: number) => ({ email: `texted${at}@example.org`, email_key: `texted${at}@example.org` });

test('each person gets at most one message of a kind, and none is lost, whatever fails, changes or is killed when', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 16 }), async (steps) => {
      mail.mails.length = 0;
      rejected.clear();
      const account = await askByPhone(database, {
        count: people,
        anyHour: true,
        reminderDays: 4,
        reminderHour: 9,
      });
      const { accountId, userIds, week } = account;
      const links = await newLinks(
        database.pool,
        userIds.map((userId) => ({ accountId, userId, week })),
      );
      const run = new Run(account, links);
      try {
        for (const one of steps) await run.take(one);
        await run.drain();
      } finally {
        await run.end();
      }
      const rows = await database.pool<{ userId: number; kind: 'invitation' | 'reminder'; state: string }[]>`
        select user_id as "userId", kind, state from messages where account_id = ${accountId}`;
      const wasOff = steps.some(({ kind }) => kind === 'switch');
      const wereRejected = steps.some((one) => one.kind === 'send' && one.gateway === 'rejecting');
      for (const [at, userId] of userIds.entries()) {
        for (const kind of ['invitation', 'reminder'] as const) {
          const state = rows.find((row) => row.userId === userId && row.kind === kind)?.state;
          const received = run.received(at, kind);
          expect([kind, state, received]).toEqual([
            kind,
            state,
            state === 'sent' ? 1 : Math.min(received, 1),
          ]);
          // A killed process or a lost connection leaves 'unknown'; everything else was sent, rejected or is not needed any more.
          const ends = [
            'sent',
            'unknown',
            // An invitation by email that is rejected is sent as a text message.
            ...(kind === 'reminder' || wasOff || wereRejected ? ['refused'] : []),
            ...(kind === 'reminder' ? ['unneeded'] : []),
            ...(wasOff ? [undefined] : []),
          ];
          expect([kind, ends.includes(state as string)]).toEqual([kind, true]);
          const isTaken = state === 'sent' || state === 'unknown';
          expect([kind, state, isTaken || received === 0]).toEqual([kind, state, true]);
        }
      }
    }),
    cases(8),
  );
});
