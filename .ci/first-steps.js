// The first steps of a newcomer, in a service that has just been started: a company from an uploaded file, another one from a push, and
// with --answer also a survey with a first answer, which waits for the service to open it (up to a minute).
//   node .ci/first-steps.js [--answer] ADDRESS COMMAND...     COMMAND: what runs the soundings command
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const withAnswer = process.argv[2] === '--answer';
const [address, program, ...words] = process.argv.slice(withAnswer ? 3 : 2);
const say = (text) => process.stdout.write(`${text}\n`);

/** Runs a command of soundings, and returns its JSON output. */
function soundings(line, ...more) {
  const args = [...words, ...line.split(' '), ...more, '--json'];
  return JSON.parse(execFileSync(program, args, { encoding: 'utf8', stdio: 'pipe' }));
}

async function send(path, init = {}) {
  const response = await fetch(address + path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path.slice(0, 20)}: ${response.status} ${text.slice(0, 500)}`);
  return text;
}

/** Returns the result of the condition once it is truthy. Throws after `seconds`. `pause`: in ms, between two attempts. */
async function until(what, seconds, pause, condition) {
  for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline; await wait(pause)) {
    const met = await condition();
    if (met) return met;
  }
  throw new Error(`${what} did not happen within ${seconds} seconds.`);
}

function newCompany(name) {
  const email = `${name.toLowerCase()}@example.com`;
  const { account } = soundings(`account create --name ${name} --admin-email ${email}`);
  const scopes = '--scope data --scope organization --scope files';
  const { token } = soundings(`token create --account ${account.id} --name first ${scopes}`);
  const headers = { authorization: token };
  const groups = async () => JSON.parse(await send('/v1/groups', { headers }));
  return { id: account.id, headers, groups };
}

/** An uploaded file is read by a confined process that may read only its own program. */
async function fromFile() {
  const { headers, groups } = newCompany('Files');
  const body = new FormData();
  const csv = 'Department ID;Department name;Parent department\nD0;Our company;\nD1;Sales;D0\n';
  body.append('file', new Blob([csv]), 'groups.csv');
  await send('/v1/storage/uploadFile', { method: 'POST', headers, body });
  const created = await until('Processing the file', 120, 200, async () => (await groups()).length);
  say(`The uploaded file created ${created} groups.`);
}

async function fromPush() {
  const company = newCompany('Pushes');
  const text = readFileSync(new URL('../docs/examples/organization.json', import.meta.url), 'utf8');
  await send('/v1/organization/organization', {
    method: 'POST',
    headers: { ...company.headers, 'content-type': 'application/json' },
    body: text.replace('"validateOnly": true', '"validateOnly": false'),
  });
  say(`The push created ${(await company.groups()).length} groups.`);
  return company;
}

/** Asks a question and answers it, as on the answering page. */
async function firstAnswer({ id: account, groups }) {
  const { id: group } = (await groups()).find((one) => one.name === 'Example Ltd');
  const weekday = new Date().getUTCDay() || 7;
  const rhythm = `--per-week 2 --every-weeks 5 --weekday ${weekday} --hour 0 --any-hour`;
  soundings(
    `schedule create --account ${account} --name Pulse --group ${group} --kpi workload,clarity ${rhythm}`,
  );
  const links = await until('Opening the round', 300, 3000, () => {
    try {
      return soundings(`links export --account ${account}`).links;
    } catch {
      return undefined; // No week is open yet.
    }
  });
  const { pathname } = new URL(links[0].link);
  const page = await fetch(address + pathname);
  const [, question] = /id="q(\d+)" data-answer/.exec(await page.text());
  const [cookie] = page.headers.getSetCookie()[0].split(';');
  await send(`${pathname}/answers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    body: JSON.stringify({ question: Number(question), value: 4 }),
  });
  say(`The first of ${links.length} people has answered.`);
}

const page = await send('/');
if (!page.includes('<title>Soundings</title>')) throw new Error(`The page is not the console: ${page}`);
await fromFile();
const company = await fromPush();
if (withAnswer) await firstAnswer(company);
