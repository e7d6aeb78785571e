// The check of the service's certificate, on certificates that openssl creates.
import { generateKeyPairSync } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { certificate } from '../mail/certificate.fixture.ts';
import { has } from '../testing/processes/programs.ts';
import { checkCertificate } from './certificate-check.ts';

const publicUrl = 'https://surveys.example.com';
const day = 86_400_000;
type Pair = { cert: string; key: string };

const faults = (pair: Pair, { url = publicUrl, now = Date.now() } = {}) =>
  checkCertificate(pair, { publicUrl: url, now })
    .filter(({ outcome }) => outcome !== 'ok')
    .map(({ outcome, code }) => `${outcome} ${code}`);
/** Certificates that sign themselves are always reported. */
const own = 'warning issuer';

describe.skipIf(!has('openssl'))('a certificate (SKIPPED without openssl; Debian: openssl)', () => {
  let pair: Pair;
  let other: Pair;
  beforeAll(async () => {
    const create = async (name: string) => (await certificate({ name, days: 60 })) as Pair;
    [pair, other] = [await create('DNS:surveys.example.com,IP:192.0.2.1'), await create('DNS:*.example.org')];
  });

  test('that fits is only reported because no public authority has signed it', () => {
    expect(faults(pair)).toEqual([own]);
    expect(faults(pair, { url: 'https://192.0.2.1:8443' })).toEqual([own]);
    expect(faults(other, { url: 'https://surveys.example.org' })).toEqual([own]);
  });

  test('has to belong to its key, which has no passphrase', () => {
    expect(faults({ cert: pair.cert, key: other.key })).toEqual(['problem otherKey', own]);
    expect(faults({ cert: pair.cert, key: 'no key' })).toEqual(['problem keyUnreadable', own]);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const encrypted = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' } as const;
    expect(faults({ cert: pair.cert, key: privateKey.export(encrypted) as string })).toEqual([
      'problem keyUnreadable',
      own,
    ]);
  });

  test('has to be valid today, and for two weeks more', () => {
    expect(faults(pair, { now: Date.now() + 45 * day })).toEqual([own]);
    expect(faults(pair, { now: Date.now() + 47 * day })).toEqual(['warning expiresSoon', own]);
    expect(faults(pair, { now: Date.now() + 61 * day })).toEqual(['problem expired', own]);
    expect(faults(pair, { now: Date.now() - 2 * day })).toEqual(['problem notYetValid', own]);
  });

  test('has to be valid for the host of PUBLIC_URL', () => {
    expect(faults(other)).toEqual(['problem otherName', own]);
    expect(faults(pair, { url: 'https://192.0.2.2' })).toEqual(['problem otherName', own]);
    expect(faults(pair, { url: 'https://0.0.0.0:8443' })).toEqual([own]);
    const found = checkCertificate(other, { publicUrl, now: Date.now() }).find(
      ({ code }) => code === 'otherName',
    );
    expect(found?.text).toContain('but for *.example.org');
  });

  test('has to come first, followed by that of its issuer', () => {
    expect(faults({ ...pair, cert: pair.cert + other.cert })).toEqual(['warning order']);
    expect(faults({ ...pair, cert: other.cert + pair.cert })).toEqual([
      'problem otherKey',
      'problem otherName',
      'warning order',
    ]);
  });

  test('has to be PEM', () => {
    expect(faults({ ...pair, cert: '' })).toEqual(['problem unreadable']);
    expect(faults({ ...pair, cert: pair.key })).toEqual(['problem unreadable']);
    expect(faults({ ...pair, cert: pair.cert.replaceAll(/[A-Z]{3}/g, 'AAA') })).toEqual([
      'problem unreadable',
    ]);
  });
});
