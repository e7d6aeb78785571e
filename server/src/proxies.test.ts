// Caddy and nginx in front of two processes of the service, with the files of deploy/proxies as they are, except for addresses,
// ports and the certificate. The tests with restarts are skipped without ROLLING_RESTARTS.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest';
import { changeAccount, createAccount } from './accounts/accounts.ts';
import { createToken } from './accounts/tokens.ts';
import { inTransaction } from './db/db.ts';
import { createUser } from './people/users.ts';
import { openTestDatabase, type TestDatabase } from './testing/database.ts';
import { freePort } from './testing/processes/free-port.ts';
import { exec, home, type Service, started, useDirectory } from './testing/processes/processes.ts';
import { needs, searchPath } from './testing/processes/programs.ts';
import { until } from './testing/until.ts';

useDirectory();

const folder = new URL('../../deploy/proxies/', import.meta.url);
const fileOf = (name: string) => readFile(new URL(name, folder), 'utf8');
/** The proxy connects from another address than the clients, so that only the proxy is trusted. */
const [proxyAddress, clientAddress] = ['127.0.0.1', '127.0.0.2'];

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const open = (port?: number): Promise<Service> =>
  started(join(home, 'data'), {
    DATABASE_URL: database.url,
    PUBLIC_URL: 'https://surveys.example.com',
    TRUST_PROXY: proxyAddress,
    RATE_LIMIT: '0',
    DRAIN_SECONDS: '2',
    ...(port !== undefined && { PORT: String(port) }),
  });

/** Returns an account that accepts files only from the given address. */
async function newAccount(allowed: string) {
  const { pool } = database;
  const account = await inTransaction(pool, async (tx) => {
    const created = await createAccount(tx, { name: 'Test' });
    await createUser(tx, created.id, { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' });
    return changeAccount(tx, created.id, { allow: [allowed] });
  });
  const scopes = ['data', 'organization', 'files'] as const;
  return (await createToken(pool, account.id, { name: 'test', scopes: [...scopes] })).token;
}

/** Replaces parts of a file. Each of them must occur in it. */
function replaced(text: string, parts: readonly (readonly [from: string, to: string])[]): string {
  let result = text;
  for (const [from, to] of parts) {
    expect(result).toContain(from);
    result = result.replaceAll(from, to);
  }
  return result;
}

type Proxy = { https: number; http: number };
type Settings = Proxy & { directory: string; upstreams: number[] };

/** Starts nginx with our file in its `http` block. */
async function openNginx({ http, https, directory, upstreams }: Settings): Promise<ChildProcess> {
  const names = ['-subj', '/CN=surveys.example.com', '-keyout', join(directory, 'privkey.pem')];
  const files = ['-out', join(directory, 'fullchain.pem')];
  await exec('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...names, ...files]);
  const [first, second] = upstreams;
  const settings = replaced(await fileOf('nginx.conf'), [
    ['server 127.0.0.1:8080 ', `server 127.0.0.1:${first} `],
    ['# server 127.0.0.1:8081 ', `server 127.0.0.1:${second} `],
    ['listen 80;', `listen 127.0.0.1:${http};`],
    ['listen [::]:80;', ''],
    ['listen 443 ', `listen 127.0.0.1:${https} `],
    ['listen [::]:443 ssl http2;', ''],
    ['/etc/ssl/soundings', directory],
  ]);
  await writeFile(join(directory, 'soundings.conf'), settings);
  const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (one) => `${one}_temp_path ${directory}/${one};`,
  );
  const main = `daemon off; pid ${directory}/pid; error_log stderr;
events {}
http { access_log off; ${kept.join(' ')} include ${directory}/soundings.conf; }`;
  await writeFile(join(directory, 'nginx.conf'), main);
  return spawn('nginx', ['-c', join(directory, 'nginx.conf'), '-p', directory], {
    env: { PATH: searchPath },
  });
}

/** Starts Caddy with our file. For a name in .localhost it creates a certificate itself. */
async function openCaddy({ http, https, directory, upstreams }: Settings): Promise<ChildProcess> {
  const options = `{
    admin off
    skip_install_trust
    default_bind 127.0.0.1
    http_port ${http}
    https_port ${https}
    log {
      level ERROR
    }
  }
  import ${fileURLToPath(new URL('Caddyfile', folder))}`;
  await writeFile(join(directory, 'Caddyfile'), options);
  const UPSTREAM = upstreams.map((port) => `127.0.0.1:${port}`).join(' ');
  const env = { PATH: searchPath, HOME: directory, SITE: 'surveys.localhost', UPSTREAM };
  return spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', join(directory, 'Caddyfile')], { env });
}

const proxies = {
  nginx: { program: 'nginx', host: 'surveys.example.com', package: 'nginx', start: openNginx },
  Caddy: { program: 'caddy', host: 'surveys.localhost', package: 'caddy', start: openCaddy },
};
type Name = keyof typeof proxies;

async function openProxy(context: TestContext, name: Name, upstreams: number[]): Promise<Proxy> {
  const { program, package: debianPackage, start } = proxies[name];
  needs(context, program, debianPackage);
  const [http, https] = [await freePort(), await freePort()];
  const directory = join(home, `${program}${https}`);
  await mkdir(directory);
  const child = await start({ http, https, directory, upstreams });
  let errors = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const send = clientOf({ http, https }, name);
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${errors}`);
    return (await send('/health/ready').catch(() => undefined))?.status === 200;
  });
  return { http, https };
}

type Sent = {
  method?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
  isUnfinished?: boolean;
};
type Received = { status: number; text: string; protocol: string };

/** Returns a function that sends a request over HTTP/2, from an address that is not the proxy's. */
function clientOf({ https }: Proxy, name: Name) {
  const { host } = proxies[name];
  return async (path: string, sent: Sent = {}): Promise<Received> => {
    const socket = connectTls({
      socket: connect({ host: '127.0.0.1', port: https, localAddress: clientAddress }),
      servername: host,
      ALPNProtocols: ['h2'],
      rejectUnauthorized: false,
    });
    await once(socket, 'secureConnect');
    const session = connectHttp2(`https://${host}`, { createConnection: () => socket });
    try {
      const { method = 'GET', headers, body, isUnfinished = false } = sent;
      const endStream = body === undefined; // as browsers do
      const request = session.request({ ':method': method, ':path': path, ...headers }, { endStream });
      // Closing the connection ends an unfinished request with an error.
      request.on('error', () => {}).setEncoding('utf8');
      if (isUnfinished) request.write(body);
      else if (!endStream) request.end(body);
      const [answered] = await once(request, 'response');
      let text = '';
      for await (const part of request) text += part as string;
      return { status: Number(answered[':status']), text, protocol: String(socket.alpnProtocol) };
    } finally {
      session.destroy();
    }
  };
}

function fileIn(bytes: number) {
  const boundary = 'boundary';
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="people.csv"\r\n\r\n`;
  const csv = 'Department ID;Department name;Parent department\nD0;Our company;\n'.padEnd(bytes, '\n');
  return {
    method: 'POST',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: `${head}${csv}\r\n--${boundary}--\r\n`,
  };
}

describe.each(Object.keys(proxies) as Name[])('%s', (name) => {
  test('serves the console over HTTP/2, passes large lists and files on as they arrive, and the addresses of clients', async (context) => {
    const { port } = await open();
    const proxy = await openProxy(context, name, [port, port]);
    const send = clientOf(proxy, name);
    const page = await send('/');
    expect(page).toMatchObject({ status: 200, protocol: 'h2' });
    expect(page.text).toContain('<title>Soundings</title>');
    const plain = await fetch(`http://127.0.0.1:${proxy.http}/people?x=1`, { redirect: 'manual' });
    expect(plain.status).toBe(308);
    expect(plain.headers.get('location')).toMatch(/^https:\/\/[^/]+\/people\?x=1$/);

    // A list of 2,000 groups in 12 MB, and the response with them.
    const token = await newAccount(clientAddress);
    const groups = Array.from({ length: 2000 }, (_, i) => ({
      externalId: `g${i}`,
      name: `Group number ${i}`,
    }));
    const list = JSON.stringify({
      settings: { validateOnly: false, maxGroupsCreated: 2000 },
      data: { groups },
    }).padEnd(12_000_000);
    const json = { authorization: token, 'content-type': 'application/json' };
    const pushed = await send('/v1/organization', { method: 'POST', headers: json, body: list });
    expect(pushed).toMatchObject({ status: 200 });
    const read = await send('/v1/groups', { headers: { authorization: token } });
    expect(JSON.parse(read.text)).toHaveLength(2000);

    // A request is passed on while it arrives: an unknown token is refused before the body is complete.
    const unknown = { ...json, authorization: 'snd_unknown', 'content-length': 5_000_000 };
    const begun = { method: 'POST', headers: unknown, body: '{', isUnfinished: true };
    const refused = await send('/v1/organization', begun);
    expect(refused.status).toBe(400);
    expect(refused.text).toMatch(/token/);

    // A file of almost 10 MB. A client can't choose the address that the allowlist sees.
    const upload = async (authorization: string, bytes: number, more = {}) => {
      const file = fileIn(bytes);
      const headers = { ...file.headers, authorization, ...more };
      return (await send('/v1/storage/uploadFile', { ...file, headers })).status;
    };
    expect(await upload(token, 9_900_000)).toBe(200);
    const elsewhere = await newAccount('192.0.2.7');
    const claims = { 'x-forwarded-for': '192.0.2.7', 'x-real-ip': '192.0.2.7', forwarded: 'for=192.0.2.7' };
    expect(await upload(elsewhere, 1000, claims)).toBe(400);
    expect(await upload(token, 1000, claims)).toBe(200);
  });

  const exception = name === 'nginx' ? ', except pushes that meet a process that is still starting' : '';
  test(`fails no request while the processes are restarted one after another${exception}`, async (context) => {
    if (!process.env['ROLLING_RESTARTS'])
      context.skip('SKIPPED: it takes half a minute; set ROLLING_RESTARTS (.ci/run does)');
    const services = [await open(), await open()];
    const ports = services.map(({ port }) => port);
    const send = clientOf(await openProxy(context, name, ports), name);
    const token = await newAccount(clientAddress);
    const json = { authorization: token, 'content-type': 'application/json' };
    const body = JSON.stringify({ settings: { validateOnly: true }, data: { groups: [] } });
    const state = { isOver: false };
    const failures: string[] = [];
    let done = 0;
    const load = async (act: () => Promise<Received>, isExpected: (received: Received) => boolean) => {
      for (; !state.isOver; done++) {
        const received = await act().catch((error: unknown) => ({
          status: 0,
          text: String(error),
          protocol: '',
        }));
        if (!isExpected(received)) failures.push(`${received.status} ${received.text}`);
        await wait(50);
      }
    };
    const isOk = ({ status }: Received) => status === 200;
    const isStarting = ({ status, text }: Received) =>
      status === 503 && text.includes('The service is starting');
    const loads = [
      load(() => send('/v1/groups', { headers: { authorization: token } }), isOk),
      load(
        () => send('/v1/organization', { method: 'POST', headers: json, body }),
        (received) => isOk(received) || (name === 'nginx' && isStarting(received)),
      ),
    ];
    for (const [i, service] of services.entries()) {
      service.child.kill('SIGTERM');
      expect(await service.exited).toBe(0);
      services[i] = await open(service.port);
      const before = done;
      await until(() => Promise.resolve(done > before + 10));
    }
    state.isOver = true;
    await Promise.all(loads);
    expect(failures).toEqual([]);
  });
});
