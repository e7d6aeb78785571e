// The weekly digest: only what the console would show the person when it is sent, at their hour, once, in their language.
import type { PrintedReport } from '@soundings/contract/console/reports.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { changeGroup } from '../people/groups.ts';
import { changeUser, removeUser } from '../people/users.ts';
import { setDigests } from '../rounds/messages/opt-outs.sql.ts';
import { openSmtp, type SmtpOptions } from '../testing/smtp.ts';
import { signIn } from '../testing/signed-in.ts';
import { openWorld, type World } from '../testing/world.ts';
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
import { type Recipient, takeRecipients } from './digests.sql.ts';
import { beginIfUnchanged, queueDigests } from './digests.ts';
import { accessOf } from './read-digest.ts';

const hour = 60 * minute;
/** Monday at 8, when the digest of a week that closed just after midnight is sent. */
const eight = (week: number) => mondayAfter(week) + 8 * hour;

let world: World;
/** The clock of the service is before the first week: the jobs that it runs each minute find nothing to send, lost or old. */
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => mondayAfter(0) - day);
});
afterAll(() => world?.close());

async function newMailServer(options: SmtpOptions = {}) {
  const smtp = await openSmtp(options);
  onTestFinished(() => smtp.close());
  return smtp;
}

/** Removes the digests of other accounts, and creates an account with `count` weeks. */
async function newSurvey(count = 1, names = {}): Promise<SurveyedAccount> {
  await world.pool`delete from digest_weeks`;
  await world.pool`delete from digests`;
  return surveyed(world, count, names);
}

const namesOf = (mails: { to: string[] }[]) =>
  mails.flatMap(({ to }) => to.map((one) => one.split('@')[0])).toSorted();
const statesOf = async ({ accountId }: SurveyedAccount) =>
  (
    await world.pool<{ line: string }[]>`
      select first_name || ' ' || week || ' ' || state as line
      from   digests join users using (account_id, user_id)
      where  account_id = ${accountId}
      order  by 1`
  ).map(({ line }) => line);

/** Closes the first week, and returns what is sent on Monday at 8. */
async function firstDigests(survey: SurveyedAccount) {
  await close(world, survey, 0);
  const smtp = await newMailServer();
  const { send, lines } = senderOf(world.pool, smtp.url);
  await send(eight(0));
  return { smtp, send, lines };
}

const takeAway = (survey: SurveyedAccount, userId: number) =>
  inTransaction(world.pool, (tx) =>
    changeUser(
      tx,
      survey.accountId,
      userId,
      { memberships: { adminOf: [], inheritedAdminOf: [], interestOf: [] } },
      0,
    ),
  );

describe('a digest', () => {
  test('goes to managers about their groups and to administrators about the company, never to others', async () => {
    const survey = await newSurvey();
    await newPerson(world, survey, 'north', 'Manager', { of: { adminOf: ['north'] } });
    await newPerson(world, survey, 'reader', 'Manager', { of: { interestOf: ['south'] } });
    await newPerson(world, survey, 'small', 'Manager', { of: { adminOf: ['team'] } });
    await newPerson(world, survey, 'nothing', 'Manager', { of: { memberOf: ['north'] } });
    await newPerson(world, survey, 'admin', 'Administrator');
    await newPerson(world, survey, 'auditor', 'Auditor', { of: { adminOf: ['north'] } });
    await newPerson(world, survey, 'user', 'User', { of: { adminOf: ['north'], interestOf: ['company'] } });
    const pending = await newPerson(world, survey, 'pending', 'Administrator');
    await world.pool`update users set role_pending = true where account_id = ${survey.accountId} and user_id = ${pending}`;
    const { smtp } = await firstDigests(survey);
    expect(namesOf(smtp.mails)).toEqual(['admin', 'north', 'reader']);
    const [week] = survey.weeks;
    expect(await statesOf(survey)).toEqual([
      `admin ${week} sent`,
      `north ${week} sent`,
      `nothing ${week} unneeded`,
      `reader ${week} sent`,
      `small ${week} unneeded`,
    ]);
    const textTo = (name: string) => smtp.mails.find(({ to }) => to[0]?.startsWith(name))!.text;
    expect(textTo('north')).toContain('Group north: Week 37, 2026');
    expect(textTo('north')).not.toMatch(/Group south|of south|Group team/);
    expect(textTo('reader')).not.toMatch(/Group north|of north|of team|Group team/);
    expect(textTo('admin')).toContain('Group company: Week 37, 2026');
    expect(textTo('admin')).toContain('Group north');
    expect(textTo('admin')).toContain(`https://soundings.example/?group=${survey.groups.get('company')}`);
  });

  test('has the figures, findings and comments of the report that the console shows the same person', async () => {
    const survey = await newSurvey(3);
    const { accountId, groups } = survey;
    const userId = await newPerson(world, survey, 'north', 'Manager', { of: { adminOf: ['north'] } });
    for (const week of [0, 1, 2]) await close(world, survey, week);
    const smtp = await newMailServer();
    await senderOf(world.pool, smtp.url).send(eight(2));
    const [{ text, html }] = smtp.mails as [(typeof smtp.mails)[number]];
    const request = await signIn(world, accountId, userId);
    const { body: report } = await request<PrintedReport>(
      `GET /results/groups/${groups.get('north')}/report?period=2026-W39`,
    );
    expect(report.findings.items.length).toBeGreaterThan(0);
    expect(report.findings.items[0]).toMatch(/rose/);
    for (const finding of report.findings.items) expect(text).toContain(finding);
    const rows = [...report.strongest.items, ...report.weakest.items];
    expect(rows).toHaveLength(6);
    for (const { name, value } of rows) {
      expect(text).toContain(`${name}: Score ${value}`);
      expect(html).toContain(`>${value}</td>`);
    }
    expect(text).toContain(`${report.response!.text} (${report.response!.rate})`);
    // The first two comments that the console shows, and no others.
    expect([...text.matchAll(/^> (.*)$/gm)].map(([, comment]) => comment)).toEqual(
      report.comments.items.slice(0, 2).map((one) => one.text),
    );
    // No number is in the email that the report does not have.
    const known = new Set(JSON.stringify(report).match(/\d+/g));
    const numbers =
      text
        .split('-- \n')[0]!
        .replace(/https:\S+/g, '')
        .match(/\d+/g) ?? [];
    expect(numbers.filter((one) => !known.has(one) && !['0', '95', '100'].includes(one))).toEqual([]);
    // The earlier weeks are covered, and their results are not sent again.
    expect(text).toContain('also covers 2 earlier weeks');
    expect(await statesOf(survey)).toEqual(
      survey.weeks.map((week, i) => `north ${week} ${i < 2 ? 'covered' : 'sent'}`),
    );
  });

  test('compares only with what the account lets managers compare with', async () => {
    const survey = await newSurvey(4);
    await newPerson(world, survey, 'south', 'Manager', { of: { adminOf: ['south'] } });
    for (const week of [0, 1, 2]) await close(world, survey, week);
    const smtp = await newMailServer();
    const { send } = senderOf(world.pool, smtp.url);
    await send(eight(2));
    expect(smtp.mails[0]!.text).toMatch(/points? below Group company/);
    await close(world, survey, 3);
    await world.pool`update accounts set manager_comparisons = '{}' where account_id = ${survey.accountId}`;
    await send(eight(3));
    expect(smtp.mails[1]!.text).not.toContain('Group company');
  });

  test('is in the language of the person, and at the hour of the person', async () => {
    const survey = await newSurvey();
    const of = { adminOf: ['north'] };
    await newPerson(world, survey, 'anna', 'Manager', { of, language: 'sv', timezone: 'Europe/Stockholm' });
    await newPerson(world, survey, 'otto', 'Manager', { of, language: 'de', timezone: 'America/New_York' });
    await newPerson(world, survey, 'fi', 'Manager', { of, language: 'fi' });
    await close(world, survey, 0);
    const smtp = await newMailServer();
    const { send } = senderOf(world.pool, smtp.url);
    const sentAt = async (time: number) => {
      smtp.mails.length = 0;
      await send(time);
      return smtp.mails.map(({ to, headers }) => `${to[0]} ${headers['subject']}`).toSorted();
    };
    expect(await sentAt(eight(0) - 2 * hour - minute)).toEqual([]);
    expect(await sentAt(eight(0) - 2 * hour)).toEqual([
      'anna@example.org Vecka 37, 2026: resultat för Group north',
    ]);
    expect(smtp.mails[0]!.text).toMatch(/Fråga [a-f]: Poäng \d+/);
    expect(await sentAt(eight(0))).toEqual(['fi@example.org Results: Group north, Week 37, 2026']);
    expect(await sentAt(eight(0) + 4 * hour)).toEqual([
      'otto@example.org Ergebnisse: Group north, Woche 37, 2026',
    ]);
    expect(smtp.mails[0]!.text).toMatch(/Frage [a-f]: Punkte \d+/);
  });

  test('is sent on a working day, after as many days and at the hour that the account has chosen', async () => {
    const survey = await newSurvey();
    await world.pool`update accounts set digest_days = 3, digest_hour = 15 where account_id = ${survey.accountId}`;
    await newPerson(world, survey, 'admin', 'Administrator');
    // The week is closed early, on a Wednesday afternoon. Three days later is a Saturday.
    await close(world, survey, 0, { now: mondayAfter(0) - 5 * day + 13 * hour });
    const smtp = await newMailServer();
    const { send } = senderOf(world.pool, smtp.url);
    await send(mondayAfter(0) + 15 * hour - minute);
    expect(smtp.mails).toEqual([]);
    await send(mondayAfter(0) + 15 * hour);
    expect(namesOf(smtp.mails)).toEqual(['admin']);
  });

  test('contains comments only where they are shown and the account allows it', async () => {
    const survey = await newSurvey(2);
    await newPerson(world, survey, 'north', 'Manager', { of: { adminOf: ['north'] } });
    // More than the twelve people who answered in the north.
    await world.pool`update weeks set comment_threshold = 20 where account_id = ${survey.accountId} and week = ${survey.weeks[0]!}`;
    const { smtp, send } = await firstDigests(survey);
    expect(smtp.mails[0]!.text).not.toMatch(/A comment|Comments\n/);
    await close(world, survey, 1);
    await world.pool`update accounts set digest_comments = false where account_id = ${survey.accountId}`;
    await send(eight(1));
    expect(smtp.mails).toHaveLength(2);
    expect(smtp.mails[1]!.text).not.toMatch(/A comment|Comments\n/);
  });

  test('never turns names or comments into links, markup or more lines', async () => {
    const hostile = '<img src=x onerror=alert(1)> https://evil.example\nBcc: x@evil.example "';
    const survey = await newSurvey(1, { account: hostile, north: hostile, a: hostile, comment: hostile });
    await newPerson(world, survey, 'north', 'Manager', { of: { adminOf: ['north'] } });
    const { smtp } = await firstDigests(survey);
    const { html, text, headers } = smtp.mails[0]!;
    expect(html).not.toMatch(/<img|onerror=alert\(1\)>|https:\/\/evil/);
    expect(text).not.toMatch(/https:\/\/evil/);
    expect(headers).not.toHaveProperty('bcc');
    expect(
      [...html.matchAll(/href="([^"]*)"/g)].every(([, address]) =>
        address!.startsWith('https://soundings.example/'),
      ),
    ).toBe(true);
  });
});

describe('between closing and sending', () => {
  test('a group that the person loses, or that is moved away, is no longer in the digest, and without any group there is no email', async () => {
    const survey = await newSurvey();
    const of = { inheritedAdminOf: ['company'] };
    const gone = await newPerson(world, survey, 'gone', 'Manager', { of: { adminOf: ['north'] } });
    const half = await newPerson(world, survey, 'half', 'Manager', { of: { adminOf: ['north', 'south'] } });
    await newPerson(world, survey, 'all', 'Manager', { of });
    await close(world, survey, 0);
    await queueDigests(world.pool, eight(0) - hour);
    await takeAway(survey, gone);
    await inTransaction(world.pool, (tx) =>
      changeUser(tx, survey.accountId, half, { memberships: { adminOf: [survey.groups.get('south')!] } }, 0),
    );
    await inTransaction(world.pool, (tx) =>
      changeGroup(tx, survey.accountId, survey.groups.get('south')!, { name: 'Renamed' }),
    );
    const smtp = await newMailServer();
    await senderOf(world.pool, smtp.url).send(eight(0));
    expect(namesOf(smtp.mails)).toEqual(['all', 'half']);
    const mail = smtp.mails.find(({ to }) => to[0] === 'half@example.org')!;
    expect(mail.text).toContain('Renamed: Week 37');
    expect(mail.text + mail.html).not.toMatch(/Group north|of north/);
  });

  test('a person who is demoted, removed or opts out gets nothing, nor anyone if the account turns digests off', async () => {
    const survey = await newSurvey();
    const of = { adminOf: ['north'] };
    const [demoted, auditor, removed, out, inactive] = [
      await newPerson(world, survey, 'demoted', 'Manager', { of }),
      await newPerson(world, survey, 'auditor', 'Administrator'),
      await newPerson(world, survey, 'removed', 'Manager', { of }),
      await newPerson(world, survey, 'out', 'Manager', { of }),
      await newPerson(world, survey, 'inactive', 'Manager', { of }),
    ];
    const { accountId } = survey;
    await newPerson(world, survey, 'stays', 'Administrator');
    await close(world, survey, 0);
    await queueDigests(world.pool, eight(0) - hour);
    await inTransaction(world.pool, async (tx) => {
      await changeUser(tx, accountId, demoted, { role: 'User' }, 0);
      await changeUser(tx, accountId, auditor, { role: 'Auditor' }, 0);
      await removeUser(tx, accountId, removed, 0);
      await setDigests(tx, accountId, out, false);
      await changeUser(tx, accountId, inactive, { active: false }, 0);
    });
    const smtp = await newMailServer();
    const { send } = senderOf(world.pool, smtp.url);
    await send(eight(0));
    expect(namesOf(smtp.mails)).toEqual(['stays']);
    // A faulty list can make people inactive for a while.
    await inTransaction(world.pool, (tx) => changeUser(tx, accountId, inactive, { active: true }, 0));
    await send(eight(0) + 2 * hour);
    expect(namesOf(smtp.mails)).toEqual(['inactive', 'stays']);
    const [again] = [await newSurvey()];
    await newPerson(world, again, 'admin', 'Administrator');
    await close(world, again, 0);
    await queueDigests(world.pool, eight(0) - hour);
    await world.pool`update accounts set digest = false where account_id = ${again.accountId}`;
    await send(eight(0) + 3 * hour);
    expect(smtp.mails).toHaveLength(2);
    expect(await statesOf(again)).toEqual([`admin ${again.weeks[0]} unneeded`]);
  });

  test('a digest is not sent if anything changes after its content was read; the content is read again', async () => {
    const survey = await newSurvey();
    const userId = await newPerson(world, survey, 'north', 'Manager', { of: { adminOf: ['north'] } });
    await close(world, survey, 0);
    await queueDigests(world.pool, eight(0) - hour);
    const [recipient] = (await takeRecipients(world.pool, eight(0), 1)) as [Recipient];
    const access = await accessOf(world.pool, recipient);
    const isBegun = () =>
      beginIfUnchanged(world.pool, recipient, { week: survey.weeks[0]!, access }, eight(0));
    await takeAway(survey, userId);
    expect(await isBegun()).toBe(false);
    expect(await statesOf(survey)).toEqual([`north ${survey.weeks[0]} waiting`]);
    const smtp = await newMailServer();
    await senderOf(world.pool, smtp.url).send(eight(0) + 10 * minute);
    expect(smtp.mails).toEqual([]);
    expect(await statesOf(survey)).toEqual([`north ${survey.weeks[0]} unneeded`]);
  });

  test('the statistics are awaited, but not forever', async () => {
    const survey = await newSurvey();
    await newPerson(world, survey, 'admin', 'Administrator');
    await close(world, survey, 0, { withStatistics: false });
    const smtp = await newMailServer();
    const { send } = senderOf(world.pool, smtp.url);
    await send(eight(0));
    expect(smtp.mails).toEqual([]);
    await send(eight(0) + 6 * hour + minute);
    expect(namesOf(smtp.mails)).toEqual(['admin']);
  });
});

test('weeks that were imported, and a week that is closed twice, have no digest of their own', async () => {
  const survey = await newSurvey(2);
  await newPerson(world, survey, 'admin', 'Administrator');
  await close(world, survey, 0);
  await close(world, survey, 0);
  await queueDigests(world.pool, eight(0) - hour);
  expect(await statesOf(survey)).toEqual([`admin ${survey.weeks[0]} waiting`]);
});

describe('the opt-out', () => {
  test('GET never changes anything; POST turns the digest off, and a one-click request of a mail program does the same', async () => {
    const survey = await newSurvey(3);
    const userId = await newPerson(world, survey, 'admin', 'Administrator');
    const { smtp, send } = await firstDigests(survey);
    const { headers, text } = smtp.mails[0]!;
    expect(headers['list-unsubscribe-post']).toBe('List-Unsubscribe=One-Click');
    const path = /^<https:\/\/soundings\.example(\/d\/[\w-]{32})>$/.exec(headers['list-unsubscribe']!)![1]!;
    expect(text).toContain(`https://soundings.example${path}`);
    const request = await signIn(world, survey.accountId, userId);
    const isWanted = async () => (await request<{ digest: boolean | null }>('GET /profile')).body.digest;
    for (const method of ['GET', 'HEAD']) {
      for (const query of ['', '?stop', '?again']) {
        expect((await fetch(`${world.address}${path}${query}`, { method })).status).toBe(200);
        expect(await isWanted()).toBe(true);
      }
    }
    const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
    const page = await fetch(world.address + path, { method: 'POST', body });
    expect(await page.text()).toContain('Weekly digest stopped');
    expect(await isWanted()).toBe(false);
    await close(world, survey, 1);
    await send(eight(1));
    expect(smtp.mails).toHaveLength(1);
    // The person turns digests on again in the profile.
    expect((await request('PUT /profile/digest', { wanted: true })).body).toMatchObject({ digest: true });
    await close(world, survey, 2);
    await send(eight(2));
    expect(smtp.mails).toHaveLength(2);
    // A changed link works for no one.
    const wrong = `${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`;
    expect((await fetch(world.address + wrong, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${world.address}${path.replace('/d/', '/r/')}`, { method: 'POST' })).status).toBe(
      404,
    );
    expect(await isWanted()).toBe(true);
  });

  test('is on the profile of managers and administrators only, and the change is in the audit log', async () => {
    const survey = await newSurvey();
    for (const [role, digest, status] of [
      ['Administrator', true, 200],
      ['Manager', true, 200],
      ['Auditor', null, 403],
      ['User', null, 403],
    ] as const) {
      const request = await signIn(
        world,
        survey.accountId,
        await newPerson(world, survey, role.toLowerCase(), role),
      );
      expect((await request<{ digest: unknown }>('GET /profile')).body.digest).toBe(digest);
      expect((await request('PUT /profile/digest', { wanted: false })).status).toBe(status);
      expect((await request('PUT /profile/digest', { wanted: false, userId: 1 })).status).toBe(
        status === 200 ? 400 : 403,
      );
    }
    const entries = await world.pool`
      select 1 from audit_entries where account_id = ${survey.accountId} and action = 'profile changed'`;
    expect(entries).toHaveLength(2);
    await world.pool`update accounts set digest = false where account_id = ${survey.accountId}`;
    const request = await signIn(world, survey.accountId, await newPerson(world, survey, 'other', 'Manager'));
    expect((await request<{ digest: unknown }>('GET /profile')).body.digest).toBeNull();
  });
});
