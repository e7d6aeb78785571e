// Runs first in each confined process, before its module is loaded. Removes what the permissions of Node 24 still allow, network
// access and threads, and kills the process after its time limit in case its parent is gone.
//
// Node 25 can deny network access itself (no --allow-net).
import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import threads from 'node:worker_threads';

const milliseconds = Number(new URL(import.meta.url).searchParams.get('milliseconds'));

// The parent normally enforces the time limit. This covers a parent that is gone. Runs on its own thread, because reading
// blocks the main thread.
const watchdog = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${milliseconds + 1000})`;
new threads.Worker(watchdog, { eval: true, execArgv: [] }).unref();

function denied(): never {
  throw Object.assign(new Error('A confined process has no network and no threads.'), {
    code: 'ERR_ACCESS_DENIED',
  });
}

function deny(of: object, names: string[]): void {
  for (const name of names)
    Object.defineProperty(of, name, { value: denied, configurable: false, writable: false });
}

const functionsOf = (of: object) =>
  Object.getOwnPropertyNames(of).filter(
    (name) => name !== 'constructor' && typeof (of as Record<string, unknown>)[name] === 'function',
  );

// http, https, http2, tls, fetch and WebSocket all connect and listen through these functions.
deny(net.Socket.prototype, ['connect']);
deny(net.Server.prototype, ['listen']);
deny(dgram.Socket.prototype, ['bind', 'connect', 'send']);
for (const resolver of [dns.Resolver.prototype, dns.promises.Resolver.prototype])
  deny(resolver, functionsOf(resolver));
for (const module of [dns, dns.promises]) deny(module, functionsOf(module));
deny(threads, ['Worker']);
syncBuiltinESMExports();
