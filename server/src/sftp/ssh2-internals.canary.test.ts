// Fails when an update of ssh2 changes the internals that we use. docs/decisions/0022-ssh2-internals.md says what to do then.
import { generateKeyPairSync, KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import ssh2, { type Connection, type NegotiatedAlgorithms, type ParsedKey } from 'ssh2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { disconnectClient, offerCiphers, useKeyObjects, withAlgorithm } from './ssh2-internals.ts';

const see = 'ssh2 has changed what we use of its internals: see docs/decisions/0022-ssh2-internals.md';
const cipher = 'aes128-gcm@openssh.com';
const reason = 'The service is stopping.';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const hostKey = ssh2.utils.parseKey(privateKey.export({ type: 'pkcs1', format: 'pem' })) as ParsedKey;

/**
 * What the tests check of one connection: the server's object after the handshake, and what the client saw of its handshake
 * and its end.
 */
let connection: Connection;
let handshake: NegotiatedAlgorithms;
let end: Error | undefined;

const server = new ssh2.Server({ hostKeys: [{ key: withAlgorithm(hostKey, 'rsa-sha2-256') }] });
const client = new ssh2.Client();

beforeAll(async () => {
  server.on('connection', (opened) => {
    connection = opened;
    offerCiphers(opened, [cipher]);
    opened.on('error', () => {});
    opened.on('handshake', () => useKeyObjects(opened));
    opened.on('authentication', (context) => {
      if (context.method === 'none') context.reject(['password']);
      else context.accept();
    });
    opened.on('ready', () => disconnectClient(opened, reason));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client.on('handshake', (agreed: NegotiatedAlgorithms) => (handshake = agreed));
  const { port } = server.address() as AddressInfo;
  // The client prefers another cipher.
  const algorithms = { cipher: ['aes256-ctr' as const, cipher as 'aes128-gcm@openssh.com'] };
  const ended = new Promise<Error | undefined>((resolve) => {
    client.on('error', resolve);
    client.on('close', () => resolve(undefined));
  });
  client.connect({ host: '127.0.0.1', port, username: 'acme', password: 'any', algorithms });
  end = await ended;
});
afterAll(() => {
  client.destroy();
  server.close();
});

test('a host key is offered by the name of its algorithm', () => {
  expect(handshake?.serverHostKey, see).toBe('rsa-sha2-256');
});

test('a client is offered only the ciphers that we name', () => {
  expect(handshake?.cs.cipher, see).toBe(cipher);
});

test('a disconnect message gives the reason', () => {
  expect(end?.message, see).toBe(reason);
});

/** Whether ssh2 uses its compiled ciphers, which have no keys in JavaScript. */
function isCompiled(): boolean {
  try {
    createRequire(import.meta.url)('ssh2/lib/protocol/crypto/build/Release/sshcrypto.node');
    return true;
  } catch {
    return false;
  }
}

test.skipIf(isCompiled())(
  'the keys of a connection are key objects, which Node does not convert for every message',
  () => {
    const { _protocol: protocol } = connection as unknown as {
      _protocol?: Record<'_cipher' | '_decipher', Record<string, unknown> | undefined>;
    };
    const { _cipher: outgoing, _decipher: incoming } = protocol ?? {};
    expect(outgoing?.['_encKey'], see).toBeInstanceOf(KeyObject);
    expect(incoming?.['_decipherKey'], see).toBeInstanceOf(KeyObject);
  },
);
