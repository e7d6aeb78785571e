// A small company that uses everything its version of the program has. It is created only as customers do it: by commands, pushes,
// files, the console's API and answers, so that it can be created by the program of any version.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AskedQuestionsValues, Group } from '@soundings/contract/data.ts';
import { Secret, TOTP } from 'otpauth';
import type { TestSmtp } from '../smtp.ts';
import { until } from '../until.ts';
import { type Program, run } from './older-program.ts';

/** A service, its mail server, the number of its last migration, and the day on which it runs. */
export type Site = {
  program: Program;
  address: string;
  smtp: TestSmtp;
  schema: number;
  today: string;
  weekday: number;
};

export type Company = {
  account: number;
  sftpUsername: string;
  tokens: { all: string; quoted: string };
  /** The open week, its questions, and the secret parts of personal links: those that were used, and others. */
  open: { week: string; questions: AskedQuestion[]; answered: string[]; unused: string[] };
};

export type AskedQuestion = { id: number; type: number; allowsNotApplicable: boolean };

/** The password of the administrator ada@nordal.example, and of others who sign in. */
export const password = 'a long password for tests';
const sites = ['Umeå', 'Lund', 'Kiruna'];
/** The number of the first migration with which each of these exists. */
const since = {
  breakdowns: 39,
  invitations: 44,
  focus: 43,
  cards: 48,
  notApplicable: 50,
  byDate: 51,
  webhooks: 57,
  pulls: 62,
};

const groups = [
  { externalId: 'all', name: 'Nordal', description: 'The whole company' },
  { externalId: 'sales', name: 'Sales & “service”', parent: 'all' },
  { externalId: 'north', name: 'North', parent: 'sales' },
  { externalId: 'south', name: 'South', parent: 'sales' },
  { externalId: 'plant', name: 'Plant, Åre', parent: 'all' },
  { externalId: 'day', name: 'Day shift', parent: 'plant' },
  { externalId: 'night', name: 'Night shift', parent: 'plant' },
  { externalId: 'office', name: 'Office', parent: 'all' },
];
const leaves = ['north', 'south', 'day', 'night', 'office'];

/** What the HR system sends. `last`: the last name of the last person. */
export const organization = (count: number, last?: string) => ({ users: users(count, last), groups });

/** People of every kind: with an email address, only a phone number or neither; managers; inactive; in several groups. */
const users = (count: number, last?: string) =>
  Array.from({ length: count }, (_, i) => ({
    externalId: `p${i}`,
    firstName: ['Åsa', 'Bo', 'Çelik', 'Dag'][i % 4],
    lastName: i === count - 1 && last ? last : `No ${i}`,
    ...(i % 3 > 0 && { email: `p${i}@nordal.example` }),
    ...(i % 5 === 0 && { phone: `+4670000${String(1000 + i)}` }),
    ...(i % 4 === 1 && { language: 'sv' }),
    ...(i % 7 === 2 && { timezone: 'Asia/Tokyo' }),
    active: i !== 11,
    externalProperties: { site: sites[i % 3], start: `20${15 + (i % 10)}-0${1 + (i % 9)}-11` },
    accessInfo: {
      memberOf: i % 13 === 0 ? [leaves[i % 5], 'office'] : [leaves[i % 5]],
      ...(i < 3 && { role: 'Manager', adminOf: [leaves[i]], inheritedAdminOf: i === 0 ? ['sales'] : [] }),
    },
  }));

/** Creates the company and returns what is needed to use it. */
export async function createCompany(site: Site): Promise<Company> {
  const { program } = site;
  const name = ['--name', 'Nordal', '--admin-email', 'ada@nordal.example', '--timezone', 'Europe/Stockholm'];
  const created = await run<{ account: { id: number; sftpUsername: string } }>(
    program,
    ['account', 'create', ...name, '--threshold', '4', '--admin-password-stdin'],
    password,
  );
  const { id, sftpUsername } = created.account;
  const own = ['--account', String(id)];
  const command = <T = unknown>(words: string, ...more: string[]) =>
    run<T>(program, [...words.split(' '), ...own, ...more]);
  const scopes = ['data', 'organization', 'files'].flatMap((scope) => ['--scope', scope]);
  const all = await command<{ token: string }>('token create', '--name', 'all', ...scopes);
  const quoted = ['--name', 'BI', '--scope', 'data', '--numbers', 'quoted', '--expires', '2096-01-01'];
  const tokens = {
    all: all.token,
    quoted: (await command<{ token: string }>('token create', ...quoted)).token,
  };
  const revoked = ['--name', 'old', '--scope', 'files'];
  const old = await command<{ id: number }>('token create', ...revoked);
  await command('token revoke', '--id', String(old.id));
  await command('attribute define', '--name', 'site', '--values', sites.join(','));
  await command('attribute define', '--name', 'start');
  await push(site, tokens.all);
  const breakdown = site.schema >= since.breakdowns ? 'breakdown open' : 'segments open';
  await command(breakdown, '--name', 'Site', '--attribute', 'site');
  await command(breakdown, '--name', 'Years', '--attribute', 'start', '--bands', '5,8');
  const surveys = join(program.folder, 'surveys.ndjson');
  await writeFile(surveys, history(site));
  await command('history import', surveys);
  const groupIds = await groupIdsOf(site.address, tokens.all);
  const top = String(groupIds.get('all'));
  await createSchedules(site, command, top);
  await command('simulate', '--weeks', '4', '--seed', '7', '--rate', '0.8');
  await uploadFiles(site, tokens.all, command);
  await useConsole(site, groupIds);
  const open = await answerOpenWeek(site, command, { authorization: tokens.all, top });
  return { account: id, sftpUsername, tokens, open };
}

type Command = <T = unknown>(words: string, ...more: string[]) => Promise<T>;

async function push({ address }: Site, authorization: string): Promise<void> {
  for (const count of [41, 40]) {
    const body = { settings: { validateOnly: false }, data: organization(count) };
    const response = await fetch(`${address}/v1/organization/organization`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await done(response);
  }
}

/** Two weeks of an earlier survey, with a question of every type of this version. */
function history({ schema }: Site): string {
  const options = [
    { id: 'bike', text: 'By bike', translations: { sv: 'Med cykel' } },
    { id: 'bus', text: 'By bus' },
    { id: 'car', text: 'By car' },
  ];
  const types = [1, 2, 3, 4, 5, 6, 7, ...(schema >= 41 ? [8] : [])];
  const values = [4, 7, 9, true, 'bike', ['bike', 'bus'], undefined, 3];
  const questions = types.map((type, i) => ({
    key: `own-${type}`,
    type,
    text: `Own question ${type}?`,
    language: 'en',
    translations: { sv: `Egen fråga ${type}?` },
    ...((type === 5 || type === 6) && { options }),
    ...(schema >= since.notApplicable && i < 2 && { allowsNotApplicable: true }),
  }));
  const lines: unknown[] = questions.map((question) => ({ question }));
  lines.push({
    kpi: { id: 'own-kpi', name: 'Own KPI', translations: { sv: 'Eget' }, questions: ['own-1', 'own-2'] },
  });
  for (const week of ['2025-W10', '2025-W20']) {
    for (const group of ['sales', 'plant']) {
      const asked = Array.from({ length: 12 }, (_, i) => ({
        person: `${group}-${i}`,
        memberOf: [group === 'sales' ? ['north', 'south'][i % 2] : 'day'],
      }));
      const keys = questions.map(({ key }) => key);
      lines.push({ round: { week, group, questions: keys, asked } });
      for (const [i, { person }] of asked.slice(0, 10).entries()) {
        for (const [at, type] of types.entries()) {
          const of = { week, group, person, question: `own-${type}` };
          if ((i + at) % 9 === 0) lines.push({ answer: { ...of, skipped: true } });
          else if (schema >= since.notApplicable && at === 0 && i === 3)
            lines.push({ answer: { ...of, notApplicable: true } });
          else {
            const value = typeof values[at] === 'number' ? (values[at] as number) - (i % 3) : values[at];
            const comment = type === 7 || i % 4 === 0 ? `Comment ${i} on “${type}” by ${group}` : undefined;
            lines.push({ answer: { ...of, value, comment } });
          }
        }
      }
    }
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

async function createSchedules({ schema, today, weekday }: Site, command: Command, top: string) {
  const due = ['--weekday', String(weekday), '--hour', '0', '--any-hour'];
  const kpis = ['workload', 'leadership', 'engagement'].flatMap((kpi) => ['--kpi', kpi]);
  const pulse = ['--name', 'Pulse', '--group', top, ...kpis, '--per-week', '4', '--every-weeks', '4'];
  await command('schedule create', ...pulse, ...due, '--from', '2026-01-01');
  const own = ['--name', 'Own', '--group', top, '--question', 'own-5', '--question', 'own-7'];
  const more = schema >= since.notApplicable ? ['--question', 'own-1'] : [];
  await command('schedule create', ...own, ...more, ...due, '--from', today, '--remind', 'no');
  const later = ['--name', 'Monthly', '--group', top, '--question', 'own-2', '--repeat', 'monthly'];
  const { id } = await command<{ id: number }>('schedule create', ...later, '--until', '2099-12-31');
  await command('schedule pause', '--id', String(id));
  if (schema < since.byDate) return;
  const byDate = ['--date', 'start', '--days', '30-59', '--min-people', '5'];
  await command('schedule create', '--name', 'Start', '--group', top, '--question', 'own-3', ...byDate);
}

/** Uploads a file that is applied, one with an error, and one with a value whose meaning is not known. */
async function uploadFiles({ address }: Site, authorization: string, command: Command): Promise<void> {
  await command('account set', '--apply-files', 'true', '--partial-files', 'true');
  const header = 'EmployeeID;FirstName;LastName;Active\n';
  const files = {
    'new.csv': `${header}f1;Eva;File;yes\n`,
    'empty.csv': header,
    'unknown.csv': `${header}f2;Finn;File;perhaps\n`,
  };
  for (const [name, content] of Object.entries(files)) {
    const form = new FormData();
    form.append('file', new Blob([content]), name);
    await done(
      await fetch(`${address}/v1/storage/uploadFile`, {
        method: 'POST',
        headers: { authorization },
        body: form,
      }),
    );
  }
}

async function groupIdsOf(address: string, authorization: string): Promise<Map<string, number>> {
  const response = await done(await fetch(`${address}/v1/groups`, { headers: { authorization } }));
  const listed = (await response.json()) as Group[];
  return new Map(listed.map(({ externalId, id }) => [externalId as string, id]));
}

/** Does what only the console can do: a focus, cards, kiosks, webhooks, invitations to sign in, two-factor authentication. */
async function useConsole(
  { address, schema, smtp, today }: Site,
  groupIds: Map<string, number>,
): Promise<void> {
  const request = await signIn(address, 'ada@nordal.example');
  const sales = groupIds.get('sales');
  if (schema >= since.focus) {
    const inAYear = `${Number(today.slice(0, 4)) + 1}-06-30`;
    const terms = { action: 'Meet every Monday', responsible: 'Åsa', until: inAYear };
    const path = `POST /focus/groups/${sales}`;
    const { id } = (await request(path, { kind: 'kpi', subject: 'workload', ...terms })) as { id: number };
    await request(`POST /focus/${id}/check-in`, { outlook: 'onTrack', note: 'Better' });
    await request(path, { kind: 'question', subject: '1', ...terms });
  }
  if (schema >= since.cards) {
    await request('POST /cards', { chosen: { filters: {} }, isReplacing: false, isPreview: false });
    await request('POST /kiosks', { name: 'Canteen', groupId: groupIds.get('plant') });
    await request('POST /kiosks', { name: 'Gate', groupId: null });
  }
  if (schema >= since.webhooks) {
    const url = 'https://hooks.nordal.example/';
    await request('POST /webhooks', { url, description: 'Pipeline', events: ['token.expiring'] });
  }
  if (schema >= since.pulls) {
    const access = { kind: 'basic', user: 'ISU' };
    const times = { repeat: 'daily', hour: 5, weekday: 1 };
    const url = 'https://hr.nordal.example/report?format=json';
    await request('POST /pulls', {
      name: 'HR',
      source: 'workday',
      url,
      list: '',
      access,
      secret: 'x',
      ...times,
    });
  }
  const none = { phone: null, language: null, timezone: null, externalId: null };
  const person = { firstName: 'Ola', lastName: 'Owner', email: 'ola@nordal.example', role: 'Auditor' };
  const { id: ola } = (await request('POST /users', { ...person, ...none, active: true })) as { id: number };
  if (schema >= since.invitations) {
    const chosen = { ids: [ola] };
    const { seen } = (await request('POST /users/invitations', { chosen, isPreview: true })) as {
      seen: string;
    };
    await request('POST /users/invitations', { chosen, isPreview: false, seen });
  } else await request(`POST /users/${ola}/sign-in-link`, { by: 'mail' });
  const secret = await until(async () => {
    const mails = smtp.mails.filter(({ to }) => to.includes('ola@nordal.example'));
    return /\/password#([\w-]+)/.exec(mails.map(({ text }) => text).join('\n'))?.[1];
  });
  await request('POST /password', { secret, password });
  const asOla = await signIn(address, 'ola@nordal.example');
  const setup = (await asOla('POST /profile/two-factor', { password })) as { secret: string };
  const totp = new TOTP({ secret: Secret.fromBase32(setup.secret.replaceAll(' ', '')) });
  await asOla('POST /profile/two-factor/on', { code: totp.generate() });
}

type SendRequest = (operation: string, body?: unknown) => Promise<unknown>;

/** Signs in to the console, and returns a function that sends requests to its API. */
export async function signIn(address: string, email: string): Promise<SendRequest> {
  let cookie = '';
  const request: SendRequest = async (operation, body) => {
    const [method = '', path = ''] = operation.split(' ');
    const response = await fetch(`${address}/api${path}`, {
      method,
      headers: { cookie, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined && cookie === '') cookie = set.split(';')[0] as string;
    const text = await (await done(response)).text();
    return text === '' ? undefined : JSON.parse(text);
  };
  await request('POST /session', { email, password });
  await request('POST /session/proof', { password });
  return request;
}

/** Waits until the week has opened and its emails have been sent, and answers with most of the personal links. */
async function answerOpenWeek(
  { address, smtp, schema }: Site,
  command: Command,
  { authorization, top }: { authorization: string; top: string },
): Promise<Company['open']> {
  const [own, ofPulse] = [schema >= since.notApplicable ? 3 : 2, 4];
  const { week, questions } = await until(async () => {
    const path = `${address}/v1/askedquestions?groupId=${top}`;
    const response = await done(await fetch(path, { headers: { authorization } }));
    const [{ questions: all, askedquestions }] = (await response.json()) as [AskedQuestionsValues];
    const [last, ids = []] = Object.entries(askedquestions[0]?.[top] ?? {})
      .toSorted()
      .at(-1) ?? [''];
    const asked = all.filter(({ id }) => ids.includes(id));
    const isOwn = (text: string) => text === 'Own question 1?';
    return asked.some(({ question }) => question === 'Own question 7?') && asked.length === own + ofPulse
      ? {
          week: `20${last.slice(0, 2)}-W${last.slice(2)}`,
          questions: asked.map(({ id, type, question }) => ({
            id,
            type,
            allowsNotApplicable: isOwn(question),
          })),
        }
      : undefined;
  }, 150_000);
  type Shown = { weeks: { messages: { kind: string; state: string }[] }[] };
  const isSent = ({ weeks }: Shown) =>
    weeks[0]?.messages.every(({ kind, state }) => kind === 'reminder' || state === 'sent');
  await until(async () => {
    await sleep(3000); // each check starts a process
    return isSent(await command<Shown>('week show'));
  }, 150_000);
  const { links: exported } = await command<{ links: { link: string }[] }>('links export', '--week', week);
  const sent = [...exported.map(({ link }) => link), ...smtp.mails.map(({ text }) => text)];
  const links = [...new Set(sent.flatMap((text) => /\/a\/([\w-]+)/.exec(text)?.[1] ?? []))];
  const answered = links.slice(0, -4);
  for (const [i, link] of answered.entries()) await answer(address, link, questions, i);
  return { week, questions, answered, unused: links.slice(-4) };
}

const values: Record<number, (i: number) => unknown> = {
  1: (i) => 1 + (i % 5),
  2: (i) => 1 + (i % 10),
  3: (i) => i % 11,
  4: (i) => i % 2 === 0,
  5: (i) => ['bike', 'bus', 'car'][i % 3],
  6: (i) => ['bike', 'bus'].slice(0, i % 3),
  8: (i) => 1 + (i % 4),
};

/** Answers with a personal link. `i` varies the answers. */
export async function answer(
  address: string,
  link: string,
  questions: AskedQuestion[],
  i: number,
): Promise<void> {
  for (const { id, type, allowsNotApplicable } of questions) {
    const other = (i + id) % 8 === 0 ? { skipped: true } : undefined;
    const none = allowsNotApplicable && i % 6 === 1 ? { notApplicable: true } : undefined;
    const comment = type === 7 || i % 3 === 0 ? `Comment ${i} – “${id}”\nin two lines` : undefined;
    const given = { value: values[type]?.(i + id), ...(comment !== undefined && { comment }) };
    const response = await fetch(`${address}/a/${link}/answers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie: `soundings_visit=${visitOf(i)}` },
      body: JSON.stringify({ question: id, ...(other ?? none ?? given) }),
    });
    await done(response);
  }
}

/** Returns the value that a browser sends to show that it is the one that answered. */
export const visitOf = (i: number): string => `visit${String(i).padStart(22, '0')}`;

/** Throws if a request failed. */
async function done(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw new Error(`${response.url}: ${response.status} ${await response.text()}`);
}
