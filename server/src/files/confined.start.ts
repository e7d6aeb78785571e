// Begins each confined process, before its own module is loaded and its input is read: takes away what the permissions of Node 24
// leave it, which is the network and further threads, and ends it when its time is over and no one else does.
//
// Node 25 can forbid the network itself (no --allow-net).
import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import threads from 'node:worker_threads';

const milliseconds = Number(new URL(import.meta.url).searchParams.get('milliseconds'));

// Whoever started us ends us in time, if it is still there. On a thread of its own, because ours reads.
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

// All of http, https, http2, tls, fetch and WebSocket connects and listens by these.
deny(net.Socket.prototype, ['connect']);
deny(net.Server.prototype, ['listen']);
deny(dgram.Socket.prototype, ['bind', 'connect', 'send']);
for (const resolver of [dns.Resolver.prototype, dns.promises.Resolver.prototype])
  deny(resolver, functionsOf(resolver));
for (const module of [dns, dns.promises]) deny(module, functionsOf(module));
deny(threads, ['Worker']);
syncBuiltinESMExports();
