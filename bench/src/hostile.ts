// Malicious inputs (HOSTILE_INPUTS, by default a million) to the interfaces, the console, the answering page and the SFTP port, while
// another account sends twenty requests a second. No response is a 5xx error, the log has no error, the other account is hardly
// affected, and memory stays bounded.
import { beginSession } from '@soundings/server/src/auth/sessions.ts';
import { createToken } from '@soundings/server/src/accounts/tokens.ts';
import { sizeText } from '@soundings/server/src/base/sizes.ts';
import { inTransaction } from '@soundings/server/src/db/db.ts';
import { createUser } from '@soundings/server/src/people/users.ts';
import { answeredWeek } from '@soundings/server/src/testing/attacks/forgetting.ts';
import { freePort } from '@soundings/server/src/testing/processes/free-port.ts';
import { attribute, makeCompany } from './company.ts';
import type { Keys } from './hostile.inputs.ts';
import type { Survived } from './processes/hostile.sender.ts';
import { percentile, type BenchRow, time, timed } from './measuring/measure.ts';
import type { Plans, Sized } from './measuring/plans.ts';
import { pushBodyOf, push } from './push.ts';
import type { BenchAccount, Service } from './measuring/service.ts';

type Plan = { inputs: number; senders: number; others: { users: number; groups: number } };

export const hostilePlans: Plans<Plan> = {
  whole: {
    inputs: Number(process.env['HOSTILE_INPUTS'] ?? 1_000_000),
    senders: 2,
    others: { users: 2_000, groups: 200 },
  },
  smoke: { inputs: 300, senders: 1, others: { users: 20, groups: 5 } },
};

/** The maximum time in milliseconds, and the maximum memory in bytes. */
const [maxTime, maxMemory] = [200, 512e6];
/** How many inputs a sender sends between two progress messages. */
const atATime = 10_000;

/** Sends malicious inputs and measures their effect on the service and on others. */
export const benchHostile: Sized<Plan> = (plan) => async (say, start) => {
  const service = await start();
  try {
    const keys = await keysOf(service);
    const others = await otherAccount(service, plan.others);
    const sftpPort = await freePort();
    const attacked = await service.another({ SFTP_PORT: String(sftpPort), LOG_LEVEL: 'error' });
    const idle = attacked.memory.now() ?? 0;
    const steady = await attacked.requestSteadily('/v1/groups', others.token, 20, 1000);
    const endWatch = attacked.memory.watch();
    const senders = await Promise.all(
      Array.from({ length: plan.senders }, (_, i) =>
        service.beside(
          'hostile.sender.ts',
          attacked.address,
          String(sftpPort),
          String(i + 1),
          JSON.stringify(keys),
        ),
      ),
    );
    const [ms, survived] = await timed(() => sendAll(senders, plan.inputs, say));
    const memory = (endWatch()?.own ?? 0) - idle;
    const times = await steady.end();
    for (const failure of survived.failures) say(failure);
    for (const line of attacked.errors()) say(line);
    const errors = attacked.errors().length;
    await attacked.stop();
    const p99 = percentile(times, 0.99);
    return {
      rows: rowsOf({ inputs: plan.inputs, survived, errors, p99, memory, ms }),
      postgres: service.postgres,
    };
  } finally {
    await service.stop();
  }
};

/** Sends `inputs` inputs from several senders at the same time. */
async function sendAll(
  senders: { request(count: number): Promise<unknown> }[],
  inputs: number,
  say: (line: string) => void,
): Promise<Survived> {
  const survived: Survived = { statuses: {}, withoutResponse: 0, failures: [] };
  let sent = 0;
  await Promise.all(
    senders.map(async (sender) => {
      while (sent < inputs) {
        const count = Math.min(atATime, inputs - sent);
        sent += count;
        add(survived, (await sender.request(count)) as Survived);
        say(`${sent.toLocaleString('en')} sent; ${summaryOf(survived)}`);
      }
    }),
  );
  return survived;
}

/**
 * `errors`: the errors in the log. `p99`: the 99th percentile of the other account's response times. `ms`: how long sending took.
 */
type Measured = {
  inputs: number;
  survived: Survived;
  errors: number;
  p99: number;
  memory: number;
  ms: number;
};

function rowsOf({ inputs, survived, errors, p99, memory, ms }: Measured): BenchRow[] {
  const failed = Object.entries(survived.statuses)
    .filter(([status]) => status.startsWith('5'))
    .reduce((sum, [, count]) => sum + count, 0);
  return [
    {
      what: `${inputs.toLocaleString('en')} malicious inputs: 5xx responses`,
      measured: String(failed),
      target: '0',
      met: failed === 0,
    },
    { what: '– errors in the log', measured: String(errors), target: '0', met: errors === 0 },
    {
      what: '– requests of another account meanwhile, 99th percentile',
      measured: time(p99),
      target: `< ${maxTime} ms`,
      met: p99 < maxTime,
    },
    {
      what: '– peak memory above idle',
      measured: sizeText(memory),
      target: `< ${sizeText(maxMemory)}`,
      met: memory < maxMemory,
    },
    { what: '– inputs a second', measured: String(Math.round((inputs * 1000) / ms)) },
    { what: '– responses by status', measured: summaryOf(survived) },
  ];
}

function add(all: Survived, more: Survived): void {
  for (const [status, count] of Object.entries(more.statuses))
    all.statuses[status] = (all.statuses[status] ?? 0) + count;
  all.withoutResponse += more.withoutResponse;
  all.failures = [...all.failures, ...more.failures].slice(0, 20);
}

const summaryOf = ({ statuses, withoutResponse }: Survived) =>
  [
    ...Object.entries(statuses).map(([status, count]) => `${status}: ${count}`),
    `none: ${withoutResponse}`,
  ].join(', ');

/** Creates an account with an open week, tokens of every scope, and signed-in people of each role. */
async function keysOf(service: Service): Promise<Keys> {
  const { pool } = service;
  const { accountId, links } = await answeredWeek(service, [service.address]);
  const tokens: string[] = [];
  const sessions: string[] = [];
  for (const scope of ['data', 'organization', 'files'] as const)
    tokens.push((await createToken(pool, accountId, { name: scope, scopes: [scope] })).token);
  for (const role of ['Administrator', 'Manager', 'Auditor', 'User'] as const) {
    const userId = await inTransaction(pool, (tx) =>
      createUser(tx, accountId, {
        firstName: 'A',
        lastName: role,
        email: `${role.toLowerCase()}-${accountId}@bench.example`,
        role,
      }),
    );
    for (let i = 0; i < (role === 'Administrator' ? 6 : 1); i++)
      sessions.push(
        await beginSession(pool, { accountId, userId }, { address: '127.0.0.1', agent: 'bench' }),
      );
  }
  return { tokens, sessions, links };
}

async function otherAccount(service: Service, size: Plan['others']): Promise<BenchAccount> {
  const account = await service.account(attribute);
  await push(service, account, pushBodyOf(makeCompany(size)), { created: size.users });
  return account;
}
