// Checks the certificate of the service (TLS_CERT_FILE): its key, its dates, its names and its chain.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { rootCertificates } from 'node:tls';
import { withNoun, type Finding, reportOn } from './findings.ts';

const { ok, warning, problem } = reportOn('certificate');

/** How many days before its end a certificate is reported. */
const renewalDays = 14;
const day = 86_400_000;

/** Checks a certificate chain and its key, both in PEM. `now`: ms since 1970. */
export function checkCertificate(
  { cert, key }: { cert: string; key: string },
  { publicUrl, now }: { publicUrl: string; now: number },
): Finding[] {
  const chain = chainIn(cert);
  const [own] = chain ?? [];
  if (!chain || !own)
    return [
      problem(
        'unreadable',
        'TLS_CERT_FILE doesn’t contain a certificate in PEM. It begins with “-----BEGIN CERTIFICATE-----”: your own certificate first, then those of its issuers.',
      ),
    ];
  return [
    keyFinding(own, key),
    ...dateFindings(own, now),
    ...nameFindings(own, publicUrl),
    ...chainFindings(chain),
  ];
}

/** Returns the certificates of a PEM file, in their order; undefined if one can't be read. */
function chainIn(pem: string): X509Certificate[] | undefined {
  try {
    return (pem.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? []).map(
      (one) => new X509Certificate(one),
    );
  } catch {
    return undefined;
  }
}

function keyFinding(own: X509Certificate, pem: string): Finding {
  try {
    return own.checkPrivateKey(createPrivateKey(pem))
      ? ok('key', 'The key in TLS_KEY_FILE belongs to the certificate.')
      : problem(
          'otherKey',
          'The key in TLS_KEY_FILE doesn’t belong to the first certificate in TLS_CERT_FILE. Set both to files of the same certificate, with your own certificate first.',
        );
  } catch {
    return problem(
      'keyUnreadable',
      'TLS_KEY_FILE doesn’t contain a private key in PEM without a passphrase. Remove the passphrase (openssl pkey), or set the right file.',
    );
  }
}

function dateFindings(own: X509Certificate, now: number): Finding[] {
  const [from, until] = [Date.parse(own.validFrom), Date.parse(own.validTo)];
  const shown = (at: number) => new Date(at).toISOString().slice(0, 10);
  const days = Math.floor((until - now) / day);
  if (now > until)
    return [
      problem('expired', `The certificate expired on ${shown(until)}. Renew it, and restart the service.`),
    ];
  if (now < from)
    return [
      problem(
        'notYetValid',
        `The certificate is valid only from ${shown(from)} on. Check the clock of this machine.`,
      ),
    ];
  const left = `The certificate expires on ${shown(until)}, in ${withNoun(days, 'day')}`;
  return days < renewalDays
    ? [warning('expiresSoon', `${left}. Renew it, and restart the service.`)]
    : [ok('valid', `${left}.`)];
}

function nameFindings(own: X509Certificate, publicUrl: string): Finding[] {
  const host = (URL.parse(publicUrl)?.hostname ?? '').replace(/^\[(.*)\]$/, '$1');
  if (host === '' || ['0.0.0.0', '::'].includes(host)) return [];
  const isCovered = isIP(host) === 0 ? own.checkHost(host) : own.checkIP(host);
  if (isCovered !== undefined) return [ok('name', `The certificate is valid for ${host}.`)];
  const names = (own.subjectAltName ?? '').replaceAll(/\b(?:DNS|IP Address):/g, '');
  return [
    problem(
      'otherName',
      `The certificate is not valid for ${host}, the host of PUBLIC_URL, but for ${names || 'no name'}. Get a certificate for ${host}, or change PUBLIC_URL.`,
    ),
  ];
}

function chainFindings(chain: X509Certificate[]): Finding[] {
  const gap = chain.findIndex((one, i) => i > 0 && !chain[i - 1]?.checkIssued(one));
  if (gap > 0)
    return [
      warning(
        'order',
        `Certificate ${gap + 1} in TLS_CERT_FILE is not that of the issuer of certificate ${gap}. Sort them: your own first, then its issuer, and so on. Some clients refuse the connection otherwise.`,
      ),
    ];
  const last = chain.at(-1) as X509Certificate;
  const isPublic = rootCertificates.some((pem) => {
    const root = new X509Certificate(pem);
    return last.fingerprint256 === root.fingerprint256 || last.checkIssued(root);
  });
  if (isPublic) return [];
  return [
    warning(
      'issuer',
      `The chain in TLS_CERT_FILE doesn’t lead to a public authority. Add the certificates of the issuers, or install that of your own authority (${last.issuer.replaceAll('\n', ', ')}) on all devices.`,
    ),
  ];
}
