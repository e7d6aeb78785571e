// People who answer over personal links: Soundings, items of Directus, and what a Node user would write with Express and Sequelize.
import { openPool } from '@soundings/server/src/db/db.ts';
import { linksOfAll } from '@soundings/server/src/rounds/links.ts';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { openWholeRound } from '../answers.ts';
import { attribute, makeCompany } from '../company.ts';
import { median, percentile } from '../measuring/measure.ts';
import type { Say } from '../measuring/plans.ts';
import type { Beside, Service } from '../measuring/service.ts';
import type { SubmissionOrder, Submitted } from '../processes/submitting.ts';
import { push, pushBodyOf } from '../push.ts';
import type { ComparedRow, Comparison } from './comparison.ts';
import { createCollection, startDirectus } from './directus.ts';
import type { Packages } from './packages.ts';
import { createDatabase, type PeerServer, startPeer, type Use, watchUse } from './processes.ts';

/** Each server gets answers for `rounds` times `seconds`, in turns. */
type Plan = {
  users: number;
  groups: number;
  connections: number;
  rounds: number;
  seconds: number;
  warmUp: number;
};

/** A server that gets answers, and the process that sends them. */
type Server = Pick<SubmissionOrder, 'address' | 'links' | 'questionIds' | 'itemToken'> &
  Pick<PeerServer, 'pid' | 'memory' | 'stop'> & {
    name: string;
    load: Beside;
  };

export async function compareAnswers(
  service: Service,
  packages: Packages,
  plan: Plan,
  say: Say,
): Promise<Comparison> {
  const servers: Server[] = [];
  try {
    for (const start of [startSoundings, startItems, startExpress])
      servers.push(await start(service, packages, plan));
    for (const server of servers) await expectRefusal(server);
    const measured = servers.map((): Measured[] => []);
    // The first round warms up the code and the database's plans.
    for (let round = 0; round <= plan.rounds; round++) {
      for (const [i, server] of servers.entries()) {
        const one = await submit(server, plan, round === 0 ? plan.warmUp : plan.seconds);
        if (round > 0) measured[i]?.push(one);
        say(`${server.name}: ${one.rate.toFixed(0)} a second`);
      }
    }
    const row = (what: string, unit: ComparedRow['unit'], name: keyof Measured) => {
      const [soundings, ...peers] = measured.map((all) => median(all.map((one) => one[name] ?? Number.NaN)));
      return { what, unit, soundings, peers };
    };
    return {
      title: 'Answers',
      peers: ['Directus', 'Express and Sequelize'],
      rows: [
        row(`Answers a second over ${plan.connections} connections`, 'rate', 'rate'),
        row('– 99th percentile of a response', 'time', 'p99'),
        row('– processor time of the process for 1,000 answers', 'time', 'processor'),
        row('Memory of the process, peak', 'memory', 'memory'),
      ],
    };
  } finally {
    for (const server of servers) await server.stop();
  }
}

/** Throws unless a server refuses a value that is not on the scale: all of them have to do this work. */
async function expectRefusal({
  name,
  address,
  links,
  questionIds: [question],
  itemToken,
}: Server): Promise<void> {
  const [link] = links;
  const refused = { question, value: 9 };
  const [path, authorization, body] =
    itemToken === undefined
      ? [`/a/${link}/answers`, '', refused]
      : ['/items/answers', `Bearer ${itemToken}`, { id: 'refused', link, ...refused }];
  const headers = { 'content-type': 'application/json', authorization };
  const { status } = await fetch(address + path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (status < 400 || status >= 500) throw new Error(`${name} responded with ${status} to an invalid value.`);
}

/** Answers a second, milliseconds (`processor` for 1,000 answers), and bytes. */
type Measured = Use & { rate: number; p99: number };

async function submit(server: Server, { connections }: Plan, seconds: number): Promise<Measured> {
  const { address, links, questionIds, itemToken } = server;
  const endUse = watchUse(server);
  const order = {
    address,
    links,
    questionIds,
    connections,
    seconds,
    ...(itemToken !== undefined && { itemToken }),
  };
  const given = (await server.load.request(order)) as Submitted | { error: string };
  if ('error' in given) throw new Error(`${server.name}: ${given.error}`);
  const { processor, memory } = endUse();
  return {
    rate: given.times.length / (given.ms / 1000),
    p99: percentile(given.times, 0.99),
    processor: processor === undefined ? undefined : (processor / given.times.length) * 1000,
    memory,
  };
}

async function startSoundings(service: Service, _packages: Packages, plan: Plan): Promise<Server> {
  const company = makeCompany({ ...plan, oneTop: true });
  const account = await service.account(attribute);
  await push(service, account, pushBodyOf(company), { created: company.users.length });
  const { week, questionIds } = await openWholeRound(service, account);
  const links = (await linksOfAll(service.pool, account.id, week)).map(({ link }) => link);
  const load = await service.beside('submitting.ts', service.databaseUrl);
  // A fresh process: the other one still has memory from the push.
  return { ...(await service.another()), name: 'Soundings', links, questionIds, load };
}

async function startItems(service: Service, packages: Packages, { users }: Plan): Promise<Server> {
  const directus = await startDirectus(service, packages, 'directus_answers');
  try {
    const key = { name: 'id', type: 'string', isKey: true } as const;
    await createCollection(directus, 'links', [key], false);
    // The key consists of the link and the question, so that a person answers a question once.
    await createCollection(
      directus,
      'answers',
      [
        key,
        { name: 'link', type: 'string', of: 'links' },
        { name: 'question', type: 'integer', validation: { _and: [{ question: { _between: [1, 5] } }] } },
        { name: 'value', type: 'integer', validation: { _and: [{ value: { _between: [1, 5] } }] } },
      ],
      false,
    );
    const links = randomLinks(users);
    const pool = openPool(directus.databaseUrl, 1);
    await pool`insert into links (id) select unnest(${links}::text[])`;
    await pool`analyze`;
    await pool.end();
    const load = await service.beside('submitting.ts', directus.databaseUrl);
    return { ...directus, name: 'Directus', links, questionIds, itemToken: directus.token, load };
  } catch (error) {
    await directus.stop();
    throw error;
  }
}

async function startExpress(service: Service, { directory }: Packages, { users }: Plan): Promise<Server> {
  const databaseUrl = await createDatabase(service, 'express_answers');
  const server = await startPeer(service, {
    executable: process.execPath,
    args: (port) => [
      fileURLToPath(new URL('express.server.ts', import.meta.url)),
      directory,
      databaseUrl,
      String(port),
    ],
    environment: () => ({}),
    directory,
    ready: '/health',
  });
  const links = randomLinks(users);
  const pool = openPool(databaseUrl, 1);
  await pool`insert into links (token, round_id) select unnest(${links}::text[]), 1`;
  await pool`analyze`;
  await pool.end();
  const load = await service.beside('submitting.ts', databaseUrl);
  return { ...server, name: 'Express', links, questionIds, load };
}

/** Of the peers. */
const questionIds = [1, 2, 3, 4, 5];

const randomLinks = (count: number) =>
  Array.from({ length: count }, () => randomBytes(20).toString('base64url'));
