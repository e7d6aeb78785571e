import * as fc from 'fast-check';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Config, readConfig, settingWarnings } from './config.ts';
import { Fault } from './errors.ts';
import { settings } from './settings/settings.ts';

const keyOfBits = (modulusLength: number) =>
  generateKeyPairSync('rsa', {
    modulusLength,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  }).privateKey;
const signingKey = keyOfBits(1024).trim();

type Environment = Record<string, string | undefined>;
let home: string;
let files = 0;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'soundings-config-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function file(text: string): string {
  const path = join(home, `${++files}`);
  writeFileSync(path, text);
  return path;
}

/** Returns the errors that an environment is refused with. */
function faultsOf(env: Environment): string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const [head, ...faults] = error.message.split('\n- ');
    const isExpected = error.code === 'invalid configuration' && head === 'Invalid configuration:';
    return isExpected ? faults : [`other error: ${error.code}, ${head}`, ...faults];
  }
  return [];
}

describe('the defaults', () => {
  const defaults: Config = {
    host: '127.0.0.1',
    port: 8080,
    dataDir: './data',
    answerKeys: { place: 'file', directory: 'data/keys' },
    role: 'all',
    pooledUrl: undefined,
    replicaUrl: undefined,
    databaseUrl: undefined,
    backupDir: 'data/backups',
    tls: undefined,
    trustProxy: [],
    httpsOnly: false,
    publicUrl: 'http://127.0.0.1:8080',
    corsOrigins: [],
    rateLimit: 600,
    sandboxes: 10,
    responseCacheMb: 32,
    sftpPort: 2222,
    fileDays: 30,
    smtpUrl: undefined,
    mailFrom: 'Soundings <soundings@localhost>',
    smtpConnections: 8,
    dkim: undefined,
    bounces: undefined,
    sms: undefined,
    auditSyslog: undefined,
    outgoingNetworks: [],
    metricsToken: undefined,
    tracing: undefined,
    logLevel: 'info',
    drainSeconds: 5,
    shutdownSeconds: 60,
  };

  test('apply if nothing is set', () => {
    expect(readConfig({})).toEqual(defaults);
  });

  test('apply to empty values, and unknown variables are ignored', () => {
    const empty = Object.fromEntries(
      settings.flatMap(({ name }) => [
        [name, ''],
        [`${name}_FILE`, ' '],
      ]),
    );
    expect(readConfig({ ...empty, PATH: '/bin', NODE_ENV: 'production', HOSTNAME: 'x' })).toEqual(defaults);
  });

  test('are valid values themselves', () => {
    const env = Object.fromEntries(settings.map(({ name, fallback }) => [name, fallback]));
    expect(readConfig(env)).toEqual(defaults);
  });
});

describe('the values', () => {
  const key = <K extends keyof Config>(name: K, env: Environment) => readConfig(env)[name];

  test('are read from the environment without surrounding white space', () => {
    expect(key('port', { PORT: ' 0 ' })).toBe(0);
    expect(key('port', { PORT: '65535\n' })).toBe(65_535);
    expect(key('dataDir', { DATA_DIR: '/var/lib/my data' })).toBe('/var/lib/my data');
    expect(key('databaseUrl', { DATABASE_URL: 'postgres://u:p@h/d' })).toBe('postgres://u:p@h/d');
    expect(key('logLevel', { LOG_LEVEL: 'silent' })).toBe('silent');
    expect(key('shutdownSeconds', { SHUTDOWN_SECONDS: '0' })).toBe(0);
    expect(key('rateLimit', { RATE_LIMIT: '0' })).toBe(0);
    expect(key('corsOrigins', { CORS_ORIGINS: '*' })).toEqual(['*']);
    expect(key('corsOrigins', { CORS_ORIGINS: 'https://a.example, http://localhost:3000' })).toEqual([
      'https://a.example',
      'http://localhost:3000',
    ]);
    expect(key('trustProxy', { TRUST_PROXY: '10.0.0.1, 192.0.2.0/24,::1' })).toEqual([
      '10.0.0.1',
      '192.0.2.0/24',
      '::1',
    ]);
  });

  test('with HTTPS for people, plain HTTP is accepted only from proxies, unless explicitly allowed', () => {
    const env = { TRUST_PROXY: '10.0.0.1', PUBLIC_URL: 'https://surveys.example.com' };
    expect(key('httpsOnly', env)).toBe(true);
    expect(key('httpsOnly', { ...env, ALLOW_PLAIN_HTTP: '1' })).toBe(false);
    expect(key('httpsOnly', { ...env, PUBLIC_URL: 'http://surveys.internal' })).toBe(false);
    expect(key('httpsOnly', { PUBLIC_URL: env.PUBLIC_URL })).toBe(false);
    // Without PUBLIC_URL, nothing shows that plain HTTP is intended.
    expect(key('httpsOnly', { TRUST_PROXY: '10.0.0.1', HOST: '0.0.0.0' })).toBe(true);
  });

  test.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.0'],
    ['PORT', '0x50'],
    ['PORT', '８０'],
    ['SHUTDOWN_SECONDS', '10s'],
    ['SHUTDOWN_SECONDS', '10000'],
    ['LOG_LEVEL', 'INFO'],
    ['LOG_LEVEL', 'verbose'],
    ['ALLOW_PLAIN_HTTP', 'true'],
    ['PUBLIC_URL', 'surveys.example.com'],
    ['PUBLIC_URL', 'javascript:alert(1)'],
    ['PUBLIC_URL', 'mailto:someone'],
    ['PUBLIC_URL', 'https://user@example.com'],
    ['PUBLIC_URL', 'https://example.com/?x'],
    ['TRUST_PROXY', '0.0.0.0/0'],
    ['TRUST_PROXY', '10.0.0.1, ::/0'],
    ['TRUST_PROXY', '128.0.0.0/1'],
    ['CORS_ORIGINS', 'a.example'],
    ['CORS_ORIGINS', 'https://a.example/'],
    ['CORS_ORIGINS', 'https://A.example'],
    ['CORS_ORIGINS', 'https://a.example:443'],
    ['CORS_ORIGINS', 'https://a.example, *'],
    ['CORS_ORIGINS', 'null'],
    ['CORS_ORIGINS', 'file:///tmp'],
    ['RESPONSE_CACHE_MB', '-1'],
    ['ANSWER_KEYS', 'Database'],
    ['ANSWER_KEYS', '/run/keys'],
    ['RATE_LIMIT', '-1'],
    ['RATE_LIMIT', '1e3'],
    ['RATE_LIMIT', 'none'],
    ['SFTP_PORT', '65536'],
    ['FILE_DAYS', 'a month'],
    ['MAIL_FROM', 'Soundings'],
    ['MAIL_FROM', 'soundings@'],
    ['MAIL_FROM', 'a@example.com, b@example.com'],
    ['MAIL_FROM', 'a@example.com\r\nBcc: b@example.com'],
    ['MAIL_FROM', 'Sound\nings <soundings@example.com>'],
    ['MAIL_FROM', '"Sound"ings" <soundings@example.com>'],
    ['SMTP_CONNECTIONS', '0'],
    ['SMTP_CONNECTIONS', '51'],
    ['BOUNCE_ADDRESS', 'bounces'],
    ['BOUNCE_ADDRESS', 'HR <bounces@example.com>'],
    ['DKIM_SELECTOR', '-'],
    ['DKIM_SELECTOR', 'a b'],
    ['DKIM_DOMAIN', 'localhost'],
    ['DKIM_DOMAIN', 'a@example.com'],
    ['TRUST_PROXY', 'proxy.example.com'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', 'true'],
  ])('%s=%s is refused, with a message that has both and what is valid', (name, value) => {
    const faults = faultsOf({ [name]: value });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(new RegExp(`^${name} must be .*, but it is `));
    expect(faults[0]).toContain(JSON.stringify(value));
  });

  test('all errors are reported together', () => {
    const env = { PORT: 'x', LOG_LEVEL: 'x', PUBLIC_URL: 'x', HOST: '0.0.0.0', TLS_CERT_FILE: '/nowhere' };
    const named = faultsOf(env).map((fault) => fault.split(' ')[0]);
    expect(named).toEqual(['PORT', 'PUBLIC_URL', 'LOG_LEVEL', 'TLS_CERT_FILE', 'HOST']);
  });

  test('a key for DKIM must be a private RSA key of at least 1024 bits, and is not repeated', () => {
    const elliptic = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
    for (const wrong of ['hunter2', keyOfBits(512), String(elliptic)]) {
      const faults = faultsOf({ DKIM_SELECTOR: 's1', DKIM_KEY: wrong });
      expect(faults).toEqual([
        'DKIM_KEY must be a private RSA key of at least 1024 bits, in PEM without a passphrase.',
      ]);
    }
  });

  test('DKIM needs a selector and a key; its domain is by default that of the sender', () => {
    const both = { DKIM_SELECTOR: 's1', DKIM_KEY: signingKey };
    for (const one of ['DKIM_SELECTOR', 'DKIM_KEY'] as const) {
      expect(faultsOf({ [one]: both[one] })).toEqual([
        'DKIM_SELECTOR and DKIM_KEY must be set together, but one is missing.',
      ]);
    }
    const dkim = { selector: 's1', key: signingKey, domain: 'mail.example.com' };
    expect(key('dkim', { ...both, MAIL_FROM: 'HR <hr@Mail.example.com>' })).toEqual(dkim);
    expect(key('dkim', { ...both, DKIM_DOMAIN: 'example.com' })).toEqual({ ...dkim, domain: 'example.com' });
  });

  test('the address for returned emails needs its mailbox, whose parts are decoded', () => {
    const both = {
      BOUNCE_ADDRESS: 'bounces@example.com',
      IMAP_URL: 'imaps://b%40x:p%2Fw@mail.example.com/In%20box',
    };
    for (const one of ['BOUNCE_ADDRESS', 'IMAP_URL'] as const)
      expect(faultsOf({ [one]: both[one] })).toEqual([
        'BOUNCE_ADDRESS and IMAP_URL must be set together, but one is missing.',
      ]);
    expect(key('bounces', both)).toEqual({
      address: 'bounces@example.com',
      folder: {
        host: 'mail.example.com',
        port: 993,
        isTls: true,
        login: { user: 'b@x', password: 'p/w' },
        isTrusted: false,
        folder: 'In box',
      },
    });
    const plain = { ...both, IMAP_URL: 'imap://u:p@127.0.0.1' };
    expect(key('bounces', plain)?.folder).toMatchObject({
      port: 143,
      isTls: false,
      isTrusted: true,
      folder: 'INBOX',
    });
    for (const wrong of [
      'imaps://mail.example.com',
      'imaps://u@mail.example.com',
      'https://u:p@mail.example.com',
      'imaps://u:p@h/%ff',
      'imaps://u:p@h/?x',
    ]) {
      const [fault] = faultsOf({ ...both, IMAP_URL: wrong });
      expect([wrong, fault]).toEqual([
        wrong,
        expect.stringMatching(/^IMAP_URL must be an address such as imaps:/),
      ]);
      expect(fault).not.toContain(wrong);
    }
  });

  test('a secret is not repeated in a message', () => {
    const faults = faultsOf({ DATABASE_URL: 'hunter2 at the database' });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain('DATABASE_URL must be');
    expect(faults[0]).not.toContain('hunter2');
  });

  test('any environment is accepted or refused with its errors', () => {
    const names = settings.flatMap(({ name }) => [name, `${name}_FILE`]);
    const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('0', '1', '::', '/', '.', '\0'));
    const environment = fc.dictionary(fc.constantFrom(...names), value);
    fc.assert(
      fc.property(environment, (env) => {
        const faults = faultsOf(env);
        expect(faults.every((fault) => fault !== '')).toBe(true);
      }),
    );
  });
});

describe('NAME_FILE', () => {
  test('reads the value from a file, for every setting that is not a file itself', () => {
    const values: Record<string, string> = {
      HOST: '127.0.0.9',
      PORT: '1',
      DATA_DIR: '/d',
      ANSWER_KEYS: 'database',
      ROLE: 'web',
      SANDBOXES: '3',
      BACKUP_DIR: '/backups',
      DATABASE_URL: 'postgres://x/y',
      DATABASE_URL_DIRECT: 'postgres://direct/y',
      DATABASE_URL_READ: 'postgres://replica/y',
      TRUST_PROXY: '::1',
      ALLOW_PLAIN_HTTP: '1',
      PUBLIC_URL: 'https://p',
      CORS_ORIGINS: 'https://a.example',
      RATE_LIMIT: '5',
      RESPONSE_CACHE_MB: '5',
      SFTP_PORT: '22',
      FILE_DAYS: '7',
      SMTP_URL: 'smtp://u:p@mail.example.com',
      MAIL_FROM: 'hr@example.com',
      SMTP_CONNECTIONS: '3',
      BOUNCE_ADDRESS: 'bounces@example.com',
      IMAP_URL: 'imaps://u:p@mail.example.com',
      DKIM_SELECTOR: 's1',
      DKIM_KEY: signingKey,
      DKIM_DOMAIN: 'example.com',
      SMS_PROVIDER: 'custom',
      SMS_URL: 'https://sms.example.com/{user}',
      SMS_USER: 'u',
      SMS_PASSWORD: 'p',
      SMS_FROM: 'Nordwind',
      SMS_REQUEST: '{"form": {"text": "{text}"}}',
      SMS_SIGNING_SECRET: `whsec_${'A'.repeat(32)}`,
      SMS_IDEMPOTENT: '1',
      OUTGOING_NETWORKS: '10.20.0.0/16',
      AUDIT_SYSLOG: 'tls://logs.example.com',
      METRICS_TOKEN: 'm',
      LOG_LEVEL: 'warn',
      DRAIN_SECONDS: '8',
      SHUTDOWN_SECONDS: '9',
    };
    const names = settings.map(({ name }) => name).filter((name) => !name.endsWith('_FILE'));
    const given = names.map((name) => [name, values[name]] as const);
    expect(given.filter(([, value]) => value === undefined)).toEqual([]);
    const byFile = Object.fromEntries(given.map(([name, value]) => [`${name}_FILE`, file(`${value}\n`)]));
    expect(readConfig(byFile)).toEqual(readConfig(Object.fromEntries(given)));
    const urls = {
      databaseUrl: 'postgres://direct/y',
      pooledUrl: 'postgres://x/y',
      replicaUrl: 'postgres://replica/y',
    };
    expect(readConfig(byFile)).toMatchObject({ ...urls, port: 1 });
  });

  test('is refused together with the value itself, and if the file cannot be read', () => {
    expect(faultsOf({ PORT: '1', PORT_FILE: file('2') })).toEqual([expect.stringContaining('PORT_FILE')]);
    const [fault] = faultsOf({ DATABASE_URL_FILE: join(home, 'absent') });
    expect(fault).toContain('DATABASE_URL_FILE: cannot read the file');
    expect(fault).toContain('ENOENT');
  });

  test('follows the same rules, and a secret in it is not repeated either', () => {
    expect(faultsOf({ PORT_FILE: file('x') })).toEqual([expect.stringMatching(/^PORT must be .*"x"/)]);
    expect(faultsOf({ DATABASE_URL_FILE: file('hunter2') })[0]).not.toContain('hunter2');
  });
});

describe('the gateway for text messages', () => {
  const twilio = {
    SMS_PROVIDER: 'twilio',
    SMS_USER: 'AC/1',
    SMS_PASSWORD: 'hunter2',
    SMS_FROM: '+46700000000',
    PUBLIC_URL: 'https://p',
  };

  test('has the address of its provider, or its own', () => {
    const address = (env: Environment) => readConfig(env).sms?.url.href;
    expect(address(twilio)).toBe('https://api.twilio.com/2010-04-01/Accounts/AC%2F1/Messages.json');
    expect(address({ ...twilio, SMS_URL: 'https://sms.example.com/x?user={user}' })).toBe(
      'https://sms.example.com/x?user=AC%2F1',
    );
    const local = readConfig({ SMS_PROVIDER: 'webhook', SMS_URL: 'http://127.0.0.1:9000/' }).sms;
    expect([local?.isTrusted, local?.url.href]).toEqual([true, 'http://127.0.0.1:9000/']);
    const inside = {
      SMS_PROVIDER: 'webhook',
      SMS_URL: 'http://gateway.internal/?insecure',
      PUBLIC_URL: 'https://p',
    };
    expect(readConfig(inside).sms).toMatchObject({
      isTrusted: true,
      url: new URL('http://gateway.internal/'),
    });
  });

  test('needs everything that its provider needs, and a public address for the links', () => {
    expect(faultsOf({ ...twilio, SMS_USER: '', SMS_FROM: '' })).toEqual([
      'SMS_PROVIDER=twilio needs SMS_USER, SMS_FROM.',
    ]);
    expect(faultsOf({ ...twilio, PUBLIC_URL: '' })).toEqual([
      expect.stringContaining('the links in text messages would not work'),
    ]);
    expect(faultsOf({ SMS_PROVIDER: 'webhook' })).toEqual(['SMS_PROVIDER=webhook needs SMS_URL.']);
    expect(faultsOf({ SMS_PROVIDER: 'custom', SMS_URL: 'http://localhost/' })).toEqual([
      'SMS_PROVIDER=custom needs SMS_REQUEST.',
    ]);
    expect(faultsOf({ SMS_USER: 'x' })).toEqual(['SMS_USER set, but SMS_PROVIDER is not. Set it as well.']);
    expect(faultsOf({ ...twilio, SMS_REQUEST: '{"json": "{text}"}' })).toEqual([
      expect.stringContaining('only used with SMS_PROVIDER=custom'),
    ]);
    expect(faultsOf({ SMS_PROVIDER: 'toString' })).toEqual([
      expect.stringMatching(/^SMS_PROVIDER must be twilio, .* or custom, but/),
    ]);
  });

  test('is reached over HTTPS, and no secret is repeated', () => {
    for (const wrong of [
      'http://sms.example.com/',
      'https://u:hunter2@sms.example.com/',
      'ftp://hunter2/',
      'hunter2',
      'https://x/#hunter2',
    ]) {
      const faults = faultsOf({ ...twilio, SMS_URL: wrong });
      expect([wrong, faults]).toEqual([
        wrong,
        [expect.stringMatching(/^SMS_URL must be an address such as/)],
      ]);
      expect(faults.join()).not.toContain('hunter2');
    }
    expect(faultsOf({ ...twilio, SMS_PASSWORD: 'hunter2\u00e9' })).toEqual([
      'SMS_PASSWORD must be a text of ASCII characters.',
    ]);
    expect(faultsOf({ ...twilio, SMS_SIGNING_SECRET: 'whsec_hunter2' })).toEqual([
      'SMS_SIGNING_SECRET must be whsec_ followed by 24 to 64 bytes in base64.',
    ]);
  });

  test.each([
    ['text', 'a JSON object such as'],
    ['[]', 'a JSON object such as'],
    ['{}', 'either "json" or "form"'],
    ['{"json": {}, "form": {}}', 'either "json" or "form"'],
    ['{"json": {"to": "{phone}"}}', 'contains {text}'],
    ['{"json": ["{text}", "{passphrase}"]}', 'without {passphrase}'],
    ['{"form": {"a": 1}}', 'only texts'],
    ['{"json": "{text}", "method": "GET"}', 'POST or PUT'],
    ['{"json": "{text}", "auth": "digest"}', 'basic or bearer'],
    ['{"json": "{text}", "url": "x"}', 'without "url"'],
    ['{"json": "{text}", "headers": {"Host": "x"}}', 'valid headers'],
    ['{"json": "{text}", "headers": {"Webhook-Id": "x"}}', 'valid headers'],
    ['{"json": "{text}", "headers": {"a": "b\\r\\nc: d"}}', 'valid headers'],
    ['{"json": "{text}", "headers": {"a b": "c"}}', 'valid headers'],
    ['{"json": "{text}", "headers": {"a": "{text}"}}', 'valid headers'],
  ])('does not accept the request %s', (SMS_REQUEST, expected) => {
    const env = { SMS_PROVIDER: 'custom', SMS_URL: 'http://localhost/', SMS_REQUEST };
    expect(faultsOf(env)).toEqual([expect.stringContaining(expected)]);
  });
});

describe('the old name of a setting', () => {
  test('still works, also as a file, and a warning names the new one', () => {
    for (const env of [{ ANSWER_CACHE_MB: '7' }, { ANSWER_CACHE_MB_FILE: file('7\n') }])
      expect(readConfig(env)).toEqual(readConfig({ RESPONSE_CACHE_MB: '7' }));
    expect(settingWarnings({ ANSWER_CACHE_MB: '7' })).toEqual([
      'ANSWER_CACHE_MB is now called RESPONSE_CACHE_MB. The old name still works, but will be removed',
    ]);
    expect(settingWarnings({ ANSWER_CACHE_MB_FILE: '/x' })[0]).toContain('RESPONSE_CACHE_MB_FILE');
    expect(settingWarnings({ RESPONSE_CACHE_MB: '7', ANSWER_CACHE_MB: ' ' })).toEqual([]);
  });

  test('follows the same rules as the new one, and is refused together with it', () => {
    expect(faultsOf({ ANSWER_CACHE_MB: '-1' })).toEqual([
      expect.stringMatching(/^RESPONSE_CACHE_MB must be/),
    ]);
    expect(faultsOf({ ANSWER_CACHE_MB: '7', RESPONSE_CACHE_MB: '8' })).toEqual([
      'ANSWER_CACHE_MB is now called RESPONSE_CACHE_MB, and both are set. Remove ANSWER_CACHE_MB.',
    ]);
  });
});

describe('plain HTTP', () => {
  test.each(['127.0.0.1', '127.1.2.3', 'localhost', '::1'])(
    'is accepted on %s, which is loopback',
    (host) => {
      expect(readConfig({ HOST: host }).host).toBe(host);
    },
  );

  test.each([
    '0.0.0.0',
    '::',
    '192.0.2.1',
    '10.0.0.1',
    'example.org',
    '127.0.0.1.example.org',
    'localhost.example.org',
  ])('on %s is refused without a proxy, unless explicitly allowed', (host) => {
    expect(faultsOf({ HOST: host })).toEqual([expect.stringContaining(`HOST is ${host}`)]);
    expect(faultsOf({ HOST: host, ALLOW_PLAIN_HTTP: '0' })).toHaveLength(1);
    expect(faultsOf({ HOST: host, TRUST_PROXY: ' ' })).toHaveLength(1);
    expect(faultsOf({ HOST: host, ALLOW_PLAIN_HTTP: '1' })).toEqual([]);
    expect(faultsOf({ HOST: host, TRUST_PROXY: '192.0.2.7' })).toEqual([]);
    const tls = { TLS_CERT_FILE: file('cert'), TLS_KEY_FILE: file('key') };
    expect(faultsOf({ HOST: host, ...tls })).toEqual([]);
  });
});

describe('TLS', () => {
  test('is on if both files are set, and reads them', () => {
    const env = { TLS_CERT_FILE: file('the certificate'), TLS_KEY_FILE: file('the key') };
    const config = readConfig({ ...env, HOST: '::', PORT: '443' });
    expect(config.tls).toEqual({ cert: 'the certificate', key: 'the key' });
    expect(config.publicUrl).toBe('https://[::]:443');
  });

  test('is refused if a file is missing or cannot be read', () => {
    expect(faultsOf({ TLS_CERT_FILE: file('c') })).toEqual([expect.stringContaining('must be set together')]);
    expect(faultsOf({ TLS_KEY_FILE: file('k') })).toEqual([expect.stringContaining('must be set together')]);
    const absent = { TLS_CERT_FILE: join(home, 'absent'), TLS_KEY_FILE: home };
    expect(faultsOf(absent)).toEqual([
      expect.stringMatching(/^TLS_CERT_FILE: .*ENOENT/),
      expect.stringMatching(/^TLS_KEY_FILE: .*EISDIR/),
    ]);
  });
});

describe('PUBLIC_URL', () => {
  test('defaults to the listening address; trailing slashes are removed', () => {
    expect(readConfig({ HOST: '::1', PORT: '81' }).publicUrl).toBe('http://[::1]:81');
    expect(readConfig({ PUBLIC_URL: 'https://surveys.example.com//' }).publicUrl).toBe(
      'https://surveys.example.com',
    );
    expect(readConfig({ PUBLIC_URL: 'https://x.example/base/' }).publicUrl).toBe('https://x.example/base');
  });
});

describe('SMTP_URL', () => {
  test('requires PUBLIC_URL unless the mail server is on loopback, because mails contain links', () => {
    const [fault] = faultsOf({ SMTP_URL: 'smtp://mail.example.com' });
    expect(fault).toMatch(/^SMTP_URL is set but PUBLIC_URL is not/);
    expect(faultsOf({ SMTP_URL: 'smtp://127.0.0.1:25' })).toEqual([]);
  });

  test.each([
    'smtp://mail.example.com',
    'smtps://mail.example.com:465/',
    'smtp://user:p%40ss%25word@mail.example.com:587',
    'smtp://relay:25?insecure',
    'smtp://[::1]:1025',
  ])('%s is accepted unchanged', (url) => {
    expect(readConfig({ SMTP_URL: url, PUBLIC_URL: 'https://p' }).smtpUrl).toBe(url);
  });

  test.each([
    'mail.example.com',
    'smtp:mail.example.com',
    'http://mail.example.com',
    'smtp://',
    'smtp://user@mail.example.com',
    'smtp://:hunter2@mail.example.com',
    'smtp://user:hunter2%@mail.example.com',
    'smtp://user:hunter2/x@mail.example.com',
    'smtp://user:hunter2#x@mail.example.com',
    'smtp://user:hunter2@mail.example.com/inbox',
    'smtp://user:hunter2@mail.example.com?secure=false',
    'smtp://user:hunter2@mail.example.com:99999',
  ])('%s is refused without being repeated, with an example of a valid one', (url) => {
    const [fault] = faultsOf({ SMTP_URL: url });
    expect(fault).toMatch(/^SMTP_URL must be an address such as smtp:.*%25/);
    expect(fault).not.toContain('hunter2');
  });
});

describe('MAIL_FROM', () => {
  const mailFrom = (env: Environment) => readConfig(env).mailFrom;

  test.each([
    'hr@example.com',
    'Soundings <hr@example.com>',
    '"Acme, HR" <hr@example.com>',
    'Åsa <hr@exämple.se>',
  ])('%s is accepted unchanged', (from) => expect(mailFrom({ MAIL_FROM: from })).toBe(from));

  test('defaults to soundings@ and the host of PUBLIC_URL, unless that is an IP address', () => {
    expect(mailFrom({ PUBLIC_URL: 'https://surveys.example.com:8443/x' })).toBe(
      'Soundings <soundings@surveys.example.com>',
    );
    for (const url of ['https://192.0.2.1', 'https://[2001:db8::1]']) {
      expect(mailFrom({ PUBLIC_URL: url })).toBe('Soundings <soundings@localhost>');
    }
  });
});

test('OUTGOING_NETWORKS is a list of addresses and ranges, and anything else is refused', () => {
  expect(readConfig({ OUTGOING_NETWORKS: '10.0.0.0/8, fd00::/8,127.0.0.1' }).outgoingNetworks).toEqual([
    '10.0.0.0/8',
    'fd00::/8',
    '127.0.0.1',
  ]);
  for (const value of ['localhost', '10.0.0.0/33', '10.0.0.0/8 10.1.0.0/16', 'on'])
    expect(() => readConfig({ OUTGOING_NETWORKS: value })).toThrow(
      /OUTGOING_NETWORKS must be a list of addresses or ranges/,
    );
});

describe('AUDIT_SYSLOG', () => {
  test('is an address with TLS; its certificates are read from a file', () => {
    const server = (env: Environment) => readConfig(env).auditSyslog;
    expect(server({})).toBeUndefined();
    const address = { AUDIT_SYSLOG: 'tls://logs.example.com' };
    expect(server(address)).toEqual({ host: 'logs.example.com', port: 6514, ca: undefined });
    expect(server({ ...address, AUDIT_SYSLOG_CA_FILE: file('certificates') })?.ca).toBe('certificates');
  });

  test.each<[Environment, RegExp]>([
    [{ AUDIT_SYSLOG: 'logs.example.com:6514' }, /^AUDIT_SYSLOG must be an address such as tls:/],
    [{ AUDIT_SYSLOG: 'tcp://logs.example.com:514' }, /^AUDIT_SYSLOG must be an address such as tls:/],
    [{ AUDIT_SYSLOG_CA_FILE: 'server/src/main.ts' }, /AUDIT_SYSLOG is missing/],
    [{ AUDIT_SYSLOG: 'tls://logs', AUDIT_SYSLOG_CA_FILE: '/none' }, /cannot read the file \/none/],
  ])('%j is refused', (env, expected) => expect(faultsOf(env)).toEqual([expect.stringMatching(expected)]));
});

describe('the table of settings', () => {
  test('has each name once, and a description for each', () => {
    expect(new Set(settings.map(({ name }) => name)).size).toBe(settings.length);
    expect(settings.filter(({ sentence }) => !/^\S.*\.$/.test(sentence))).toEqual([]);
  });
});
