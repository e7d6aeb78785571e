// The console: API tokens, API access, settings, and the audit log.
import type { Access, AccountSettingsView, AuditEntry } from '@soundings/contract/console/access.ts';
import { isDay } from '@soundings/contract/weeks.ts';
import { maxOrganizationBodyBytes, maxStoredFiles, maxUploadBytes } from '@soundings/contract/limits.ts';
import { accountById, changeAccount, lockAccount } from '../../accounts/accounts.ts';
import { isAllowed } from '../../accounts/allowlist.ts';
import { audit } from '../../accounts/audit.ts';
import { createToken, revokeToken } from '../../accounts/tokens.ts';
import { byteOrderMark, csvRow } from '../../base/csv.ts';
import { Fault, faultAtField, invalidParameter } from '../../base/errors.ts';
import { dayFault } from '../../base/field-faults.ts';
import type { Log } from '../../base/log.ts';
import type { Sealer } from '../../base/crypto/sealer.ts';
import type { DkimSigning } from '../../base/messages/smtp.ts';
import { openThrottle, tooEarly } from '../../base/throttle.ts';
import { type Db, inTransaction, type Pool } from '../../db/db.ts';
import { noEmail, noMailServer } from '../../mail/mail-faults.ts';
import { checkMail } from '../../mail/check/mail-check.ts';
import { hostKeys } from '../../sftp/host-keys.ts';
import type { Mailer } from '../../mail/mail.ts';
import { testMail } from '../../mail/test-mail.ts';
import {
  type AuditFilter,
  selectAuditEntries,
  selectAuditExtent,
  selectTokenSummaries,
} from './access.sql.ts';
import { actorOf, type Console, Download, requireProof, type Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';
import { selectSessionFacts } from '../session/session.sql.ts';

export type AccessOptions = {
  pool: Promise<Pool>;
  /** Decrypts the host keys of SFTP. */
  secrets: Promise<Sealer>;
  publicUrl: string;
  sftpPort: number;
  /** How many requests a token may make per minute; 0: no limit. */
  rateLimit: number;
  mailer: Mailer | undefined;
  smtpUrl: string | undefined;
  mailFrom: string;
  dkim: DkimSigning | undefined;
  log: Log;
  now: () => number;
};

/** The maximum number of allowed ranges. Each is compared with the address of every upload. */
const maxRanges = 200;

export function serveAccess(console: Console, options: AccessOptions): void {
  serveTokens(console, options);
  serveSettings(console, options);
  serveMailTest(console, options);
  serveAudit(console, options.pool);

  console.serve('GET /access', async (who) => accessOf(await options.pool, who, options));
  console.serve('PATCH /access/allow', async (who, { body: { allow = [], remove = [] } }) => {
    const pool = await options.pool;
    await inTransaction(pool, async (tx) => {
      await lockAccount(tx, who.accountId);
      const before = await accountById(tx, who.accountId);
      const kept = [...new Set([...before.allow, ...allow])].filter((range) => !remove.includes(range));
      if (kept.length > maxRanges)
        throw new Fault(
          'invalid',
          'invalid value',
          `You can allow at most ${maxRanges} ranges. Remove some first.`,
        );
      await changeAccount(tx, who.accountId, { allow: kept }, actorOf(who));
    });
    return accessOf(pool, who, options);
  });
}

function serveTokens(console: Console, { pool, mailer }: AccessOptions): void {
  console.serve('GET /tokens', async (who) => ({
    tokens: await selectTokenSummaries(await pool, who.accountId),
  }));
  console.serve('POST /tokens', async (who, { body: { name, scopes, expires, numbers = 'plain' } }) => {
    refuseExpired(expires);
    return createToken(
      await pool,
      who.accountId,
      { name, scopes, numbers, ...(expires !== null && { expires }) },
      actorOf(who),
      mailer !== undefined,
    );
  });
  console.serve('DELETE /tokens/{tokenId}', async (who, { params: { tokenId } }) => {
    await revokeToken(await pool, who.accountId, idIn(tokenId), actorOf(who));
  });
}

/** Throws a Fault if a token would already be expired when it is created. */
function refuseExpired(expires: string | null): void {
  if (expires === null || !isDay(expires) || expires >= new Date().toISOString().slice(0, 10)) return;
  const message = `${expires} is in the past. Choose a later day.`;
  throw faultAtField('invalid', 'day in the past', '/expires', message);
}

/** Returns no host keys if the secrets key is missing, in which case SFTP does not run. Rethrows any other error. */
function noKeysIfMissing(error: unknown): undefined {
  if (!(error instanceof Fault && error.code === 'secrets key missing')) throw error;
}

async function accessOf(
  pool: Pool,
  who: Who,
  { secrets, publicUrl, sftpPort, rateLimit, log }: AccessOptions,
): Promise<Access> {
  const [account, keys] = await Promise.all([
    accountById(pool, who.accountId),
    secrets.then((one) => hostKeys(pool, one, log)).catch(noKeysIfMissing),
  ]);
  const { sftpUsername: username, allow, applyFiles, filesPartial, createGroupsFromUsers } = account;
  const { defaultCountry } = account;
  const { maxUsersCreated, maxUsersUpdated, maxUsersDeleted } = account;
  const { maxGroupsCreated, maxGroupsUpdated, maxGroupsDeleted } = account;
  return {
    addresses: {
      data: `${publicUrl}/v1`,
      organization: `${publicUrl}/v1/organization`,
      upload: `${publicUrl}/v1/storage`,
    },
    documents: `${publicUrl}/docs`,
    sftp:
      sftpPort === 0 || !keys ? null : { host: new URL(publicUrl).hostname, port: sftpPort, username, keys },
    username,
    allow,
    yourAddress: who.address,
    isYourAddressAllowed: isAllowed(allow, who.address),
    files: {
      applyFiles,
      filesPartial,
      createGroupsFromUsers,
      defaultCountry,
      maxUsersCreated,
      maxUsersUpdated,
      maxUsersDeleted,
      maxGroupsCreated,
      maxGroupsUpdated,
      maxGroupsDeleted,
    },
    limits: {
      fileBytes: maxUploadBytes,
      requestBytes: maxOrganizationBodyBytes,
      storedFiles: maxStoredFiles,
      requestsPerMinute: rateLimit,
    },
  };
}

/** Settings that decide whether pushes and files may give roles or remove people, and how many. */
const dangerousSettings = [
  'applyFiles',
  'filesPartial',
  'maxUsersCreated',
  'maxUsersUpdated',
  'maxUsersDeleted',
  'maxGroupsDeleted',
] as const;

function serveSettings(console: Console, { pool, mailer, mailFrom }: AccessOptions): void {
  const settings = async (db: Db, who: Who): Promise<AccountSettingsView> => {
    const { sftpUsername: _, allow: __, ...account } = await accountById(db, who.accountId);
    return { ...account, mailFrom: mailer ? mailFrom : null };
  };
  console.serve('GET /settings', async (who) => settings(await pool, who));
  console.serve('PATCH /settings', async (who, { body }) => {
    await inTransaction(await pool, async (tx) => {
      await lockAccount(tx, who.accountId);
      const before = await accountById(tx, who.accountId);
      if (dangerousSettings.some((name) => (body[name] ?? before[name]) !== before[name])) requireProof(who);
      await changeAccount(tx, who.accountId, body, actorOf(who));
    });
    return settings(await pool, who);
  });
}

/** How many tests of the email settings an account can run. Each connects to the mail server and sends an email. */
const mailTestLimit = { free: 5, windowMs: 300_000 };
/** How many accounts are remembered. */
const maxTested = 1_000;

function serveMailTest(
  console: Console,
  { pool, mailer, smtpUrl, mailFrom, dkim, now }: AccessOptions,
): void {
  const tests = openThrottle(mailTestLimit, maxTested, now);
  console.serve('POST /settings/test-mail', async (who) => {
    const { user, account, language } = await selectSessionFacts(await pool, who);
    if (user.email === null) throw noEmail();
    if (!mailer || smtpUrl === undefined) throw noMailServer();
    const wait = tests.attempt(String(who.accountId));
    if (wait > 0) throw tooEarly('too many test emails', 'The email settings were tested too often.', wait);
    const mail = { to: user.email, ...testMail(language, account.name) };
    const findings = await checkMail({ smtpUrl, mailFrom, dkim }, mailer, mail);
    await audit(await pool, who.accountId, actorOf(who), 'test mail sent');
    return { to: user.email, findings };
  });
}

function serveAudit(console: Console, pool: Promise<Pool>): void {
  console.serve('GET /audit', async (who, { query: { offset = '0', limit = '100', ...query } }) => {
    const filter = filterOf(query);
    const window = { before: null, offset: Number(offset), limit: Math.min(Number(limit), 200) };
    const [rows, extent] = await Promise.all([
      selectAuditEntries(await pool, who.accountId, filter, window),
      selectAuditExtent(await pool, who.accountId, filter),
    ]);
    return { ...extent, rows };
  });
  console.serve('GET /audit/export', async (who, { query }) => {
    const db = await pool;
    const filter = filterOf(query);
    await audit(db, who.accountId, actorOf(who), 'audit log exported', {});
    return new Download('audit-log.csv', 'text/csv; charset=utf-8', auditCsv(db, who, filter));
  });
}

/** Reads the filters of the audit log. Throws a Fault for a day that does not exist. */
function filterOf(query: Partial<Record<keyof AuditFilter, string>>): AuditFilter {
  for (const path of ['from', 'to'] as const) {
    const fault = query[path] ? dayFault(query[path]) : undefined;
    if (fault) throw invalidParameter(path, fault.message);
  }
  const { search, found, origin, action, from, to } = query;
  return {
    search: search?.trim() || null,
    found: found?.split(',') ?? [],
    origin: origin || null,
    action: action || null,
    from: from || null,
    to: to || null,
  };
}

const auditPage = 1000;

async function* auditCsv(db: Db, { accountId }: Who, filter: AuditFilter): AsyncGenerator<string> {
  yield (
    byteOrderMark + csvRow(['number', 'at', 'from', 'who', 'address', 'action', 'subject', 'name', 'details'])
  );
  for (let before: number | null = null; ;) {
    const rows: AuditEntry[] = await selectAuditEntries(db, accountId, filter, {
      before,
      offset: 0,
      limit: auditPage,
    });
    if (rows.length > 0) yield rows.map(auditLine).join('');
    if (rows.length < auditPage) return;
    before = rows.at(-1)?.id ?? null;
  }
}

const auditLine = ({ id, at, origin, who, userId, address, action, subject, about, details }: AuditEntry) =>
  csvRow([
    id,
    new Date(at).toISOString(),
    origin,
    who ?? (userId === null ? null : `user ${userId}`),
    address,
    action,
    subject,
    about?.name ?? null,
    JSON.stringify(details),
  ]);
