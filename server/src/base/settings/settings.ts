// The settings of an installation, in one table. Those of traces are in ../tracing/tracing-settings.ts. ../config.ts reads their values.

export type Setting = {
  name: string;
  kind:
    | 'text'
    | 'place'
    | 'role'
    | 'port'
    | 'seconds'
    | 'switch'
    | 'level'
    | 'url'
    | 'site'
    | 'addresses'
    | 'networks'
    | 'origins'
    | 'count'
    | 'smtp'
    | 'mailbox'
    | 'address'
    | 'imap'
    | 'connections'
    | 'domain'
    | 'label'
    | 'signingKey'
    | 'smsProvider'
    | 'smsUrl'
    | 'smsRequest'
    | 'smsLogin'
    | 'smsSecret'
    | 'syslog';
  fallback: string;
  secret?: true;
  sentence: string;
};

/** What a process does: serve requests, do the other work (jobs), or both. */
export type Role = 'all' | 'web' | 'worker';
export const roles: readonly Role[] = ['all', 'web', 'worker'];

/** All settings, in the order of docs/operators/configuration.md, which is generated from this table. */
export const settings = [
  { name: 'HOST', kind: 'text', fallback: '127.0.0.1', sentence: 'The address to listen on.' },
  { name: 'PORT', kind: 'port', fallback: '8080', sentence: 'The port for HTTP(S).' },
  {
    name: 'DATA_DIR',
    kind: 'text',
    fallback: './data',
    sentence: 'The directory of the embedded database and of the keys.',
  },
  {
    name: 'ANSWER_KEYS',
    kind: 'place',
    fallback: 'file',
    sentence:
      'Where the keys of open weeks and of secrets are stored. `file`: in DATA_DIR/keys, outside the database. `database`: in the database, for containers without a persistent volume. With `database`, answers of closed weeks can be read from the log and the backups of the database until the logs are overwritten and the backups deleted.',
  },
  {
    name: 'DATABASE_URL',
    kind: 'url',
    fallback: '',
    secret: true,
    sentence:
      'The address of a PostgreSQL server (15 or newer) to use instead of the embedded one. With DATABASE_URL_DIRECT, it may be that of a pooler in transaction mode.',
  },
  {
    name: 'DATABASE_URL_DIRECT',
    kind: 'url',
    fallback: '',
    secret: true,
    sentence:
      'The address of the same database past the pooler, for what needs its own sessions: jobs, migrations, imports and commands. See [postgres.md](postgres.md#pgbouncer). Default: DATABASE_URL is used for everything.',
  },
  {
    name: 'DATABASE_URL_READ',
    kind: 'url',
    fallback: '',
    secret: true,
    sentence:
      'The address of a streaming replica, from which the data interface and the results pages of the console are read if it has the current version of the account. See [postgres.md](postgres.md#reading-from-a-replica). Default: everything is read from the primary server.',
  },
  {
    name: 'ROLE',
    kind: 'role',
    fallback: 'all',
    sentence:
      'What this process does. `web`: it serves requests and SFTP. `worker`: it opens and closes weeks, sends messages and processes files, and serves only `/health` and `/metrics`. `all`: both. Other roles than `all` need DATABASE_URL.',
  },
  {
    name: 'BACKUP_DIR',
    kind: 'text',
    fallback: '',
    sentence:
      'Where the service stores a [backup](backup.md) before it updates the database to a new version. `off`: it creates none. Default: the folder `backups` in DATA_DIR.',
  },
  {
    name: 'TLS_CERT_FILE',
    kind: 'text',
    fallback: '',
    sentence: 'The certificate chain (PEM). Turns on HTTPS.',
  },
  { name: 'TLS_KEY_FILE', kind: 'text', fallback: '', sentence: 'The private key of the certificate (PEM).' },
  {
    name: 'TRUST_PROXY',
    kind: 'addresses',
    fallback: '',
    sentence:
      'IP addresses or ranges of reverse proxies whose X-Forwarded headers are trusted, separated by commas.',
  },
  {
    name: 'ALLOW_PLAIN_HTTP',
    kind: 'switch',
    fallback: '0',
    sentence: 'Set to 1 to allow plain HTTP on an address other than loopback.',
  },
  {
    name: 'PUBLIC_URL',
    kind: 'site',
    fallback: '',
    sentence:
      'The public address of the service, such as https://surveys.example.com. Default: the address it listens on.',
  },
  {
    name: 'CORS_ORIGINS',
    kind: 'origins',
    fallback: '',
    sentence:
      'Origins whose pages can read the data interface in a browser, separated by commas, or * for all. Default: none.',
  },
  {
    name: 'RATE_LIMIT',
    kind: 'count',
    fallback: '600',
    sentence:
      'The maximum number of requests per minute for each API token, across all interfaces. 0: no limit. SFTP has its own limits.',
  },
  {
    name: 'RESPONSE_CACHE_MB',
    kind: 'count',
    fallback: '32',
    sentence: 'The size in MB of the in-memory cache for responses of the data interface. 0: no cache.',
  },
  {
    name: 'SFTP_PORT',
    kind: 'port',
    fallback: '2222',
    sentence: 'The port for SFTP. 0: off.',
  },
  {
    name: 'SANDBOXES',
    kind: 'count',
    fallback: '10',
    sentence:
      'The maximum number of sandboxes of all accounts together. Each administrator can have one, with the data of a demo company, to try the interfaces. 0: none, and existing ones are deleted.',
  },
  {
    name: 'FILE_DAYS',
    kind: 'count',
    fallback: '30',
    sentence: 'How many days uploaded files and their contents are kept after processing.',
  },
  {
    name: 'SMTP_URL',
    kind: 'smtp',
    fallback: '',
    secret: true,
    sentence:
      'The mail server, such as `smtp://user:password@mail.example.com:587`, or `smtps://` for implicit TLS. TLS with a valid certificate is required, unless the server is on loopback or the address ends in `?insecure`. Default: no email is sent.',
  },
  {
    name: 'MAIL_FROM',
    kind: 'mailbox',
    fallback: '',
    sentence:
      'The sender of emails, such as `Soundings <soundings@example.com>`. Default: soundings@ followed by the host of PUBLIC_URL.',
  },
  {
    name: 'SMTP_CONNECTIONS',
    kind: 'connections',
    fallback: '8',
    sentence:
      'How many connections to the mail server are used at the same time. Lower it if the server allows fewer (Exchange Online: 3).',
  },
  {
    name: 'BOUNCE_ADDRESS',
    kind: 'address',
    fallback: '',
    sentence:
      'The email address to which undeliverable emails are returned (the envelope sender). Needs IMAP_URL. Default: they are returned to MAIL_FROM.',
  },
  {
    name: 'IMAP_URL',
    kind: 'imap',
    fallback: '',
    secret: true,
    sentence:
      'The mailbox of BOUNCE_ADDRESS, such as `imaps://user:password@mail.example.com/INBOX`. It is read every five minutes, and undeliverable emails are shown at the person. Use a mailbox for this purpose only: read reports are deleted. TLS is required as for SMTP_URL. Default: no mailbox is read.',
  },
  {
    name: 'DKIM_SELECTOR',
    kind: 'label',
    fallback: '',
    sentence:
      'Signs emails with DKIM: the selector of the DNS record that has the public key, such as `soundings` if its name begins with soundings, followed by _domainkey. Needs DKIM_KEY. Default: Soundings signs no email.',
  },
  {
    name: 'DKIM_KEY',
    kind: 'signingKey',
    fallback: '',
    secret: true,
    sentence:
      'The private RSA key for DKIM (PEM, at least 1024 bits, better 2048). `npx soundings mail test` prints the DNS record that belongs to it.',
  },
  {
    name: 'DKIM_DOMAIN',
    kind: 'domain',
    fallback: '',
    sentence: 'The domain that signs emails with DKIM. Default: the domain of MAIL_FROM.',
  },
  {
    name: 'SMS_PROVIDER',
    kind: 'smsProvider',
    fallback: '',
    sentence:
      'The gateway for text messages: `twilio`, `vonage`, `messagebird`, `46elks`, `sinch`, `webhook` (a gateway that you run, also for chats) or `custom` (described by SMS_REQUEST). See [text-messages.md](text-messages.md). Default: no text messages are sent.',
  },
  {
    name: 'SMS_URL',
    kind: 'smsUrl',
    fallback: '',
    secret: true,
    sentence:
      'The address of the gateway. HTTPS with a valid certificate is required, unless the gateway is on loopback or the address ends in `?insecure`. Redirects are not followed. Default: the address of the provider.',
  },
  {
    name: 'SMS_USER',
    kind: 'smsLogin',
    fallback: '',
    sentence: 'The user of the gateway: for example, the account SID, API key or service plan ID.',
  },
  {
    name: 'SMS_PASSWORD',
    kind: 'smsLogin',
    fallback: '',
    secret: true,
    sentence: 'The password of the gateway: for example, the auth token, API secret or access key.',
  },
  {
    name: 'SMS_FROM',
    kind: 'smsLogin',
    fallback: '',
    sentence:
      'The sender of text messages: a phone number such as `+46700000000`, or a name, if your provider allows one.',
  },
  {
    name: 'SMS_REQUEST',
    kind: 'smsRequest',
    fallback: '',
    secret: true,
    sentence:
      'The request to a gateway with `SMS_PROVIDER=custom`, such as `{"json": {"to": "{phone}", "text": "{text}"}}`. See [text-messages.md](text-messages.md).',
  },
  {
    name: 'SMS_SIGNING_SECRET',
    kind: 'smsSecret',
    fallback: '',
    secret: true,
    sentence:
      'Signs requests to the gateway as in Standard Webhooks (HMAC-SHA256): `whsec_` followed by 24 to 64 random bytes in base64. Default: requests are not signed.',
  },
  {
    name: 'SMS_IDEMPOTENT',
    kind: 'switch',
    fallback: '0',
    sentence:
      'Set to 1 if the gateway ignores a request whose key it has received before. Then a request is repeated if the connection is lost before the response. Otherwise the delivery status is unknown, and the message is not sent again.',
  },
  {
    name: 'OUTGOING_NETWORKS',
    kind: 'networks',
    fallback: '',
    sentence:
      'Private IP addresses or ranges that requests to addresses entered in the console can reach, separated by commas, such as `10.20.0.0/16`. Plain HTTP is allowed only to them. Default: such requests reach only public addresses, over HTTPS.',
  },
  {
    name: 'AUDIT_SYSLOG',
    kind: 'syslog',
    fallback: '',
    sentence:
      'A syslog server that gets the audit log of all accounts (RFC 5424 over TLS), such as `tls://logs.example.com:6514`. See [monitoring.md](monitoring.md#the-audit-log-over-syslog). Default: the audit log is not sent.',
  },
  {
    name: 'AUDIT_SYSLOG_CA_FILE',
    kind: 'text',
    fallback: '',
    sentence:
      'The certificates (PEM) that the certificate of the syslog server is checked against. Default: the certificate authorities that Node knows.',
  },
  {
    name: 'METRICS_TOKEN',
    kind: 'text',
    fallback: '',
    secret: true,
    sentence:
      'A secret that gives access to `GET /metrics` from any machine when sent in the `Authorization` header. Default: only requests from this machine have access, except those that come through a proxy.',
  },
  {
    name: 'LOG_LEVEL',
    kind: 'level',
    fallback: 'info',
    sentence: 'The lowest level of messages to log: fatal, error, warn, info, debug, trace or silent.',
  },
  {
    name: 'DRAIN_SECONDS',
    kind: 'seconds',
    fallback: '5',
    sentence:
      'How many seconds the service keeps accepting requests after SIGTERM, while /health/ready already returns 503. Choose a longer time than your load balancer needs to notice.',
  },
  {
    name: 'SHUTDOWN_SECONDS',
    kind: 'seconds',
    fallback: '60',
    sentence: 'How many seconds the service waits for running requests after DRAIN_SECONDS.',
  },
] as const satisfies readonly Setting[];
