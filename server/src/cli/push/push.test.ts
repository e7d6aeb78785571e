// `soundings push`: a file, a token and an address are enough. What it prints, its exit status, and what it changes.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeAccount } from '../../accounts/accounts.ts';
import { openLog } from '../../base/log.ts';
import { inTransaction } from '../../db/db.ts';
import { defineAttribute } from '../../people/attributes.changes.ts';
import { bareEnvironment } from '../../testing/processes/environment.ts';
import { apply, person, rowsOf, unit } from '../../testing/organizations.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { command } from '../cli.fixture.ts';
import { runCommand, type Surroundings } from '../run-command.ts';

let world: World;
let account: TestAccount;
let folder: string;
/** What the command says of its progress. */
let progress: string[];
beforeAll(async () => {
  world = await openWorld(openLog('fatal'));
  folder = await mkdtemp(join(tmpdir(), 'soundings-push-'));
});
beforeEach(async () => {
  account = await world.account();
  progress = [];
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

async function fileOf(name: string, content: string | object): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** Runs the command without anything that an installation has. `answer`: what the person at the terminal types. */
async function push(args: string[], answer?: string) {
  let [out, err, asked] = ['', '', ''];
  const none = () => {
    throw new Error('The command read the settings of an installation.');
  };
  const ask = async (question: string) => {
    asked += question;
    return answer ?? '';
  };
  const surroundings: Surroundings = {
    config: none,
    settings: none,
    input: none,
    serve: none,
    print: (text) => void (out += text),
    printError: (text) => void (err += text),
    isTerminal: true,
    write: async () => {},
    push: {
      token: () => account.token,
      ask: answer === undefined ? undefined : ask,
      progress: (line) => void progress.push(line),
    },
  };
  const status = await runCommand(['push', '--url', world.address, ...args], surroundings);
  return { status, out, err, asked };
}

const list = {
  users: [person('u1', { accessInfo: { memberOf: ['g'] } }), person('u2')],
  groups: [unit('g')],
};

describe('a plan', () => {
  test('is shown as a report: counts, the first changes of each kind, and warnings', async () => {
    await apply(account, {
      users: [person('u1', { firstName: 'Old\u001b[31m\u202e' }), person('gone'), person('gone 2')],
      groups: [unit('g')],
    });
    const before = await rowsOf(world.pool, account.id);
    const path = await fileOf('plan.json', { data: { ...list, other: undefined } });
    const { status, out, err } = await push([path, '--dry-run', '--show', '1']);
    expect([status, err]).toEqual([0, '']);
    expect(out.replace(/Dry run: \S+/, 'Dry run: ID')).toBe(
      [
        'Users: 1 added, 1 changed, 2 removed, 0 unchanged',
        'Groups: 0 added, 0 changed, 0 removed, 1 unchanged',
        'Users added:',
        '  + "u2"',
        'Users changed:',
        '  ~ "u1" firstName "Old\\u001b[31m\\u{202e}" → "First" memberOf "[]" → "[\\"g\\"]"',
        'Users removed:',
        '  - "gone"',
        '  … and 1 more',
        'Dry run: ID',
        'Nothing was applied, because this was a dry run.',
        '',
      ].join('\n'),
    );
    expect(await rowsOf(world.pool, account.id)).toEqual(before);
  });

  test('shows the role and the groups of people who are added', async () => {
    const users = [
      person('1', { accessInfo: { role: 'Manager', memberOf: ['a', 'b'], adminOf: ['a'], interestOf: [] } }),
      person('2', { accessInfo: { role: 'User' } }),
      person('3', { accessInfo: { role: 'Administrator', inheritedAdminOf: ['a\u202e'] } }),
    ];
    const path = await fileOf('access.json', { users, groups: [unit('a'), unit('b'), unit('a\u202e')] });
    const { out } = await push([path, '--dry-run']);
    const lines = [
      '  + "1" role "Manager" memberOf "[\\"a\\",\\"b\\"]" adminOf "[\\"a\\"]"',
      '  + "2"',
      '  + "3" role "Administrator" inheritedAdminOf "[\\"a\\u{202e}\\"]"',
    ];
    expect(out).toContain(`\n${lines.join('\n')}\n`);
    await world.pool`update accounts set roles_by_sync = false where account_id = ${account.id}`;
    const without = await push([path, '--dry-run']);
    expect(without.out).toContain(lines[0]!.replace(' role "Manager"', ''));
    const asJson = await push([path, '--dry-run', '--json']);
    expect(Object.keys(JSON.parse(asJson.out) as object)).toEqual(['outcome', 'plan', 'warnings', 'shown']);
  });

  test('is complete as JSON', async () => {
    const path = await fileOf('plan.json', list);
    const { status, out } = await push([path, '--dry-run', '--json']);
    expect([status, JSON.parse(out)]).toEqual([
      0,
      expect.objectContaining({
        outcome: 'planned',
        plan: expect.objectContaining({ changes: expect.any(Array), warnings: [], limits: [] }),
      }),
    ]);
  });
});

describe('a push', () => {
  test.each(['y', 'YES', ' yes\n'])('asks, and applies the plan after %j', async (answer) => {
    const path = await fileOf('list.json', list);
    const { status, out, asked } = await push([path], answer);
    expect(asked).toMatch(/^Users: 2 added[\s\S]*Apply\? \[y\/N\] $/);
    // The plan is not printed again.
    expect([status, out]).toEqual([0, expect.stringMatching(/^Applied\. Run: \S+\n$/)]);
    const again = await push([path], answer);
    expect([again.status, again.asked, again.out.includes('Nothing to do.')]).toEqual([0, '', true]);
  });

  test.each(['', 'n', 'j', 'yy'])('applies nothing after %j', async (answer) => {
    const before = await rowsOf(world.pool, account.id);
    const { status, out } = await push([await fileOf('list.json', list)], answer);
    expect([status, out]).toEqual([2, 'Not applied.\n']);
    expect(await rowsOf(world.pool, account.id)).toEqual(before);
  });

  test('asks no one with --yes, and without it needs a terminal', async () => {
    const path = await fileOf('list.json', list);
    const refused = await push([path]);
    expect([refused.status, refused.out, refused.err]).toEqual([1, '', expect.stringContaining('Add --yes')]);
    const applied = await push([path, '--yes', '--json']);
    expect([applied.status, JSON.parse(applied.out)]).toEqual([
      0,
      expect.objectContaining({ outcome: 'applied' }),
    ]);
  });

  test('that exceeds a limit applies nothing and says which option raises it', async () => {
    const path = await fileOf('list.json', {
      settings: { maxUsersCreated: 0 },
      data: { users: list.users.slice(1) },
    });
    for (const args of [['--yes'], ['--dry-run']]) {
      const { status, out } = await push([path, ...args]);
      expect([status, out]).toEqual([2, expect.stringContaining('maxUsersCreated allows 0')]);
      expect(out).toContain('add --max-users-created 1');
    }
    expect((await push([path, '--yes', '--max-users-created', '1'])).status).toBe(0);
  });

  /** Pushes through a proxy that passes the second request on, and then loses the service. `lose`: what happens before the repeat. */
  async function pushLosing(lose: () => Promise<unknown>) {
    const path = await fileOf('list.json', list);
    const token = account.token;
    let pushes = 0;
    const proxy = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      const headers = { authorization: token, 'content-type': 'application/json' };
      const passed = await fetch(world.address + request.url, { method: 'POST', headers, body });
      const text = await passed.text();
      if (++pushes !== 2) return response.writeHead(passed.status, headers).end(text);
      await lose();
      return response.writeHead(502).end();
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    const pushed = await push([path, '--yes', '--url', `http://127.0.0.1:${port}`]);
    proxy.close();
    return pushed;
  }

  test('whose response is lost before someone else changes the data may have been applied', async () => {
    const { status, out, err } = await pushLosing(() => apply(account, { users: list.users.slice(1) }));
    expect([status, err]).toEqual([1, '']);
    expect(out).toContain('It may have been applied');
    expect(out).not.toMatch(/not applied/i);
  });

  test('whose response is lost, and whose repeat is refused for another reason, may have been applied, and says how to see it', async () => {
    const revoke = () => world.pool`update tokens set revoked_at = now() where account_id = ${account.id}`;
    const { status, out, err } = await pushLosing(revoke);
    expect([status, out]).toEqual([1, '']);
    expect(err).toMatch(/^The API token is .*\n- The plan may have been applied .* --dry-run .* Runs page/);
    // A push whose first attempt is refused says nothing of the kind.
    const refused = await push([await fileOf('list.json', list), '--yes']);
    expect([refused.status, refused.err]).toEqual([1, expect.stringMatching(/^The API token is .*\n$/)]);
  });

  test('is refused with every error and its place', async () => {
    const users = [person('a', { email: 'nowhere' }), person('b', { language: 'xyz' })];
    const { status, out, err } = await push([await fileOf('list.json', { users }), '--yes']);
    expect([status, out]).toEqual([1, '']);
    expect(err).toMatch(/2 errors[\s\S]*\n- .*email[\s\S]*\n- .*language/i);
    account = { ...account, token: 'snd_wrong' };
    const wrong = await push([await fileOf('list.json', list), '--yes']);
    expect([wrong.status, wrong.err]).toEqual([1, expect.stringMatching(/^The API token is .*\n$/)]);
  });
});

describe('lists that are too large for one request', () => {
  test('are sent in parts, and the person sees how far the command is', async () => {
    await inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { largestPush: 30_000 }));
    const path = await fileOf('list.json', list);
    const args = [path, '--max-users-created', '20001'];
    const { status, out, asked } = await push(args, 'y');
    expect([status, out]).toEqual([0, expect.stringMatching(/^Applied\. Run: \S+\n$/)]);
    expect(asked).toMatch(/^Users: 2 added[\s\S]*\+ "u1" memberOf "\[\\"g\\"\]"[\s\S]*Apply\? \[y\/N\] $/);
    expect(progress).toEqual([
      'Sent 1 group.',
      'Sent 1 group and 2 users.',
      'All parts are sent. The service is comparing them with its data.',
      'The service is applying the plan.',
    ]);
    const users = [person('a'), person('b', { email: 'nowhere' })];
    const refused = await push([await fileOf('list.json', { users }), ...args.slice(1), '--yes']);
    expect([refused.status, refused.out]).toEqual([1, '']);
    expect(refused.err).toMatch(/\n- \/users\/1\/email: .*email/i);
  });

  test('are read entry by entry from a file of any size, and errors name their place in it', async () => {
    const space = ' '.repeat(700_000);
    const users = Array.from({ length: 100 }, (_, i) =>
      JSON.stringify(person(`p${i}`, { accessInfo: { role: 'Manager' } })),
    );
    const file = (entries: string[]) =>
      fileOf(
        'large.json',
        `{"settings":{"maxUsersCreated":100},"data":{"groups":[${JSON.stringify(unit('g'))}],"users":[${entries.join(`,${space}`)}]}}`,
      );
    const path = await file(users);
    expect((await stat(path)).size).toBeGreaterThan(64 * 2 ** 20);
    const { status, out } = await push([path, '--yes', '--show', '1']);
    expect([status, out]).toEqual([0, expect.stringContaining('Users: 100 added')]);
    expect(out).toContain('\n  + "p0" role "Manager"\n  … and 99 more\n');
    const damaged = await push([await file(users.with(7, '{"externalId":}')), '--yes']);
    expect([damaged.status, damaged.err]).toEqual([1, expect.stringMatching(/^\/data\/users\/7: /)]);
    const other = await push([
      await fileOf('large.json', `{"users":[],"dta":[]${space.repeat(100)}}`),
      '--yes',
    ]);
    expect([other.status, other.err]).toEqual([1, expect.stringContaining('contains "dta" beside')]);
  });
});

describe('a JSON file of another shape is refused, because nothing of it would be sent', () => {
  test.each([
    [{ settings: {}, ...list }, 'contains "users" beside "settings" or "data"'],
    [{ settings: {}, dta: list }, 'contains "dta" beside "settings" or "data"'],
    [{ ...list, persons: [] }, 'contains "persons" beside "users" or "groups"'],
    [{ settings: {} }, '"data" in the file must be an object'],
    [{ data: null }, '"data" in the file must be an object'],
    [{ data: [list] }, '"data" in the file must be an object'],
    [{ settings: false, data: list }, '"settings" in the file must be an object'],
    [{ settings: null, data: list }, '"settings" in the file must be an object'],
    [{ data: {} }, 'contains no "users" and no "groups"'],
    [{}, 'contains no "users" and no "groups"'],
    [[], 'must contain an object'],
  ])('%j: %s', async (content, message) => {
    const { status, out, err } = await push([await fileOf('shape.json', content), '--yes']);
    expect([status, out, err]).toEqual([1, '', expect.stringContaining(message)]);
    expect(await world.pool`select from runs where account_id = ${account.id}`).toHaveLength(0);
  });
});

describe('a spreadsheet', () => {
  const sheet = (rows: string) => fileOf('people.csv', rows);

  test('is read with the usual columns, and errors name its rows', async () => {
    await apply(account, { groups: [unit('D1', { name: 'Sales' })] });
    const path = await sheet(
      'Employee ID;First name;Last name;Email;Phone;Department ID;Active\n1;Anna;Berg;anna@example.com;070 123 45 67;D1;yes\n2;Bo;Ek;;;D1;no\n',
    );
    const applied = await push([path, '--yes', '--country', 'SE']);
    expect([applied.status, applied.err]).toEqual([0, '']);
    const users = await world.pool`
      select external_id as id, first_name as name, phone, active from users where account_id = ${account.id} and managed order by 1`;
    expect([...users]).toEqual([
      { id: '1', name: 'Anna', phone: '+46701234567', active: true },
      { id: '2', name: 'Bo', phone: null, active: false },
    ]);
    const faulty = await push([
      await sheet(
        'Employee ID;First name;Last name;Email;Department ID\n1;Anna;Berg;nowhere;D1\n2;Bo;Ek;;D9\n',
      ),
      '--yes',
    ]);
    expect(faulty.status).toBe(1);
    expect(faulty.err).toMatch(/Row 3, column "Department ID": .*D9/);
  });

  test('of groups with names only is refused, because it would replace all groups', async () => {
    await apply(account, {
      groups: [unit('g1', { name: 'North' }), unit('g2', { name: 'South', parent: 'g1' })],
    });
    const path = await sheet('Group name;Parent group\nNorth;\nSouth;North\n');
    for (const how of ['--yes', '--dry-run']) {
      const { status, out, err } = await push([path, how]);
      expect([status, out]).toEqual([1, '']);
      expect(err).toMatch(/Row 2.*names but no IDs.*Add a column with the IDs/);
    }
    const whole = await sheet('Group ID;Group name;Parent group\ng1;North;\ng2;South;North\n');
    expect((await push([whole, '--yes'])).out).toContain('Nothing to do.');
  });

  test('changes no roles that it only suggests, and no status that it doesn’t have', async () => {
    const boss = person('1', { active: false, accessInfo: { role: 'Manager' } });
    await apply(account, { users: [boss, person('2')], groups: [unit('D1')] });
    const path = await sheet(
      'Employee ID;First name;Last name;Department ID;Manager ID\n1;First;Last;D1;\n2;First;Last;D1;1\n',
    );
    const { out } = await push([path, '--dry-run', '--json']);
    const { plan } = JSON.parse(out) as { plan: { changes: { fields: object }[] } };
    expect(plan.changes.flatMap(({ fields }) => Object.keys(fields))).not.toContain('role');
    const unknown = await push([
      await sheet('Employee ID;First name;Last name;Active\n1;A;B;Sabbatical\n'),
      '--yes',
    ]);
    expect([unknown.status, unknown.err]).toEqual([
      1,
      expect.stringMatching(/Row 2, column "Active": .*not known/),
    ]);
  });

  test('has attributes in the columns that --attribute names, and warns of cells that it ignores', async () => {
    await inTransaction(world.pool, (tx) =>
      defineAttribute(tx, account.id, { name: 'Shoe size', allowedValues: null }),
    );
    await apply(account, { users: [person('1')] });
    const path = await sheet('Employee ID;First name;Last name;Email;Shoe size\n1;First;Last;nowhere;42\n');
    const without = await push([path, '--dry-run']);
    expect([without.status, without.out.includes('0 changed')]).toEqual([0, true]);
    expect(without.out).toMatch(/Warnings:[\s\S]*Row 2, column "Email": .*/);
    const named = await push([path, '--dry-run', '--attribute', 'Shoe size']);
    expect(named.out).toContain('~ "1" externalProperties.Shoe size nothing → "42"');
  });
});

describe('wrong usage has the exit status 1, because 2 means that a plan was not applied', () => {
  test.each([
    [['none.csv'], "can't be read (ENOENT)"],
    [['list.txt'], 'must end in .json, .csv, .xls or .xlsx'],
    [['list.json', '--show', 'all'], '--show must be a whole number'],
    [['list.json', '--country', 'Sweden'], '--country must be'],
    [['list.json', '--token', 'snd_x'], "Unknown option '--token'"],
    [[], 'exactly one FILE'],
  ])('%j: %s', async (args, message) => {
    await fileOf('list.json', list);
    const [name, ...rest] = args;
    const { status, out, err } = await push([...(name ? [join(folder, name)] : []), ...rest, '--dry-run']);
    expect([status, out, err]).toEqual([1, '', expect.stringContaining(message)]);
  });

  test('an address without HTTPS is refused before the token is sent', async () => {
    const path = await fileOf('list.json', list);
    const { status, err } = await push([path, '--dry-run', '--url', 'http://soundings.example.com']);
    expect([status, err.split(', ')[0]]).toEqual([1, '--url must begin with https:']);
  });
});

test('the program needs no database and no data directory, and the token is in no argument', async () => {
  const path = await fileOf('list.json', list);
  const empty = await mkdtemp(join(folder, 'home-'));
  const tokenFile = await fileOf('token', `${account.token}\n`);
  await chmod(tokenFile, 0o600);
  const env = { ...bareEnvironment, DATA_DIR: join(empty, 'data'), PORT: 'not a port' };
  const args = [command, 'push', path, '--url', world.address, '--token-file', tokenFile, '--yes'];
  const run = (more: NodeJS.ProcessEnv) =>
    promisify(execFile)(process.execPath, args, { cwd: empty, env: { ...env, ...more } });
  expect((await run({})).stdout).toContain('Applied. Run:');
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    [command, 'push', path, '--url', world.address, '--dry-run'],
    { cwd: empty, env: { ...env, SOUNDINGS_TOKEN: account.token } },
  );
  expect([stdout.includes('Nothing to do.'), stderr]).toEqual([true, '']);
  expect(await promisify(execFile)('ls', ['-A', empty])).toMatchObject({ stdout: '' });
});
