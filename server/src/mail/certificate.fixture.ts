// Certificates of mail servers for tests, created with openssl.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Returns a self-signed certificate, by default for the address 0.0.0.0, which leads to this machine but is not trusted without a
 * valid certificate. `days`: how long it is valid; negative: it has expired. Undefined if openssl is missing.
 */
export async function certificate({ name = 'IP:0.0.0.0', days = 60 } = {}): Promise<
  { cert: string; key: string } | undefined
> {
  const folder = await mkdtemp(join(tmpdir(), 'soundings-mail-'));
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const request = join(folder, 'request.pem');
  const openssl = (...args: string[]) => promisify(execFile)('openssl', args);
  const elliptic = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  try {
    const names = ['-subj', `/CN=mail ${randomUUID()}`, '-addext', `subjectAltName=${name}`];
    await openssl('req', '-new', '-nodes', ...elliptic, ...names, '-keyout', key, '-out', request);
    // `openssl req -x509` refuses a certificate that has expired.
    const signed = ['-signkey', key, '-copy_extensions', 'copy', '-days', String(days)];
    await openssl('x509', '-req', '-in', request, ...signed, '-out', cert);
    return { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') };
  } catch {
    return undefined;
  } finally {
    await rm(folder, { recursive: true });
  }
}
