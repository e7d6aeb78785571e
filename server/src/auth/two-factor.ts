// Two-factor authentication: time-based codes (TOTP, RFC 6238), each accepted only once, and ten recovery codes for people who
// have lost their phone.
import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import type { Sealer } from '../base/crypto/sealer.ts';
import { tokenHash } from '../base/crypto/secrets.ts';
import { Fault, faultAtField } from '../base/errors.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import {
  deleteRecoveryCode,
  deleteTwoFactor,
  replaceRecoveryCodes,
  selectSecrets,
  selectTwoFactor,
  updateLastStep,
  updateOn,
  updateSecret,
  upsertSecret,
} from './two-factor.sql.ts';

type Person = { accountId: AccountId; userId: number };

const [period, codes] = [30, 10];

/** Returns the context that a person's secret is sealed with. */
const contextOf = ({ accountId, userId }: Person) => `second step ${accountId}/${userId}`;

const secretLength = 20; // the length of the hash that generates the codes (RFC 4226 §4)

const totpOf = (secret: Buffer, label = '') =>
  new TOTP({ issuer: 'Soundings', label, secret: new Secret({ buffer: bufferOf(secret) }), period });

/** Returns a copy, because a small Buffer is a view of a larger one. */
const bufferOf = (bytes: Buffer) => Uint8Array.from(bytes).buffer;

/** A secret to add to an authenticator app: as text, as an otpauth: address, and as the modules of a QR code (rows of 0 and 1). */
export type Setup = { secret: string; address: string; matrix: string[] };

/** Creates a secret, which takes effect once a code confirms it. `label`: shown in the app. Throws a Fault if two-factor authentication is on. */
export async function beginTwoFactor(db: Db, secrets: Sealer, person: Person, label: string): Promise<Setup> {
  const { accountId, userId } = person;
  const secret = randomBytes(secretLength);
  if (!(await upsertSecret(db, accountId, userId, await secrets.seal(contextOf(person), secret)))) {
    throw new Fault(
      'conflict',
      'two-factor on',
      'Two-factor authentication is already on. Turn it off first.',
    );
  }
  const totp = totpOf(secret, label);
  const address = totp.toString();
  return { secret: totp.secret.base32, address, matrix: await matrixOf(address) };
}

async function matrixOf(text: string): Promise<string[]> {
  const { create } = await import('qrcode'); // loaded only here, because it would slow down commands that don't need it
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  return Array.from({ length: modules.size }, (_, row) =>
    Array.from({ length: modules.size }, (__, column) => modules.get(row, column)).join(''),
  );
}

/** Turns on two-factor authentication with a first code and returns the recovery codes. `now`: ms. Throws a Fault for a wrong code. */
export async function confirmTwoFactor(
  tx: Transaction,
  secrets: Sealer,
  person: Person,
  code: string,
  now: number,
): Promise<string[]> {
  const { accountId, userId } = person;
  const kept = await selectTwoFactor(tx, accountId, userId);
  if (!kept || kept.onSince !== null) {
    throw new Fault(
      'conflict',
      'setup expired',
      'This setup was already confirmed or has expired. Start again.',
    );
  }
  const secret = await secrets.open(contextOf(person), kept.secret);
  const step = secret && stepOf(secret, digitsOf(code), now);
  if (step === undefined || !(await updateLastStep(tx, accountId, userId, step))) {
    throw wrongCode('invalid');
  }
  await updateOn(tx, accountId, userId);
  return newRecoveryCodes(tx, person);
}

/** Replaces the recovery codes and returns the new ones, of ten letters and digits (50 bits) each. */
export async function newRecoveryCodes(db: Db, { accountId, userId }: Person): Promise<string[]> {
  const created = Array.from({ length: codes }, recoveryCode);
  await replaceRecoveryCodes(
    db,
    accountId,
    userId,
    created.map((code) => tokenHash(plain(code))),
  );
  return created;
}

/** Returns the Fault for a wrong two-factor code. */
export const wrongCode = (kind: 'invalid' | 'unauthenticated'): Fault =>
  faultAtField(
    kind,
    'wrong code',
    '/code',
    'This code is wrong, has expired or was already used. Enter the code that the app shows now, and check that the clock of your ' +
      'phone is correct.',
  );

/** The letters and digits of recovery codes, without letters that look like digits (Crockford's base 32). */
const letters = '0123456789abcdefghjkmnpqrstvwxyz';

function recoveryCode(): string {
  const text = [...randomBytes(10)].map((byte) => letters[byte % 32]).join('');
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}

const digitsOf = (code: string) => code.replaceAll(/[\s-]/g, '');
const plain = (code: string) => digitsOf(code).toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1');

/** Checks a code and uses it up. Returns its kind, or undefined if it is wrong. `now`: ms. */
export async function checkTwoFactor(
  db: Db,
  secrets: Sealer,
  person: Person,
  code: string,
  now: number,
): Promise<'code' | 'recovery code' | undefined> {
  const { accountId, userId } = person;
  if (!/^\d{6}$/.test(digitsOf(code))) {
    const isGood = await deleteRecoveryCode(db, accountId, userId, tokenHash(plain(code)));
    return isGood ? 'recovery code' : undefined;
  }
  const kept = await selectTwoFactor(db, accountId, userId);
  const secret = kept && (await secrets.open(contextOf(person), kept.secret));
  const step = secret && stepOf(secret, digitsOf(code), now);
  if (step === undefined || !(await updateLastStep(db, accountId, userId, step))) return undefined;
  return 'code';
}

/** Returns the 30-second step that a code belongs to: the current one, or the one before or after, because clocks differ. */
function stepOf(secret: Buffer, code: string, now: number): number | undefined {
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: 1 });
  return delta === null ? undefined : Math.floor(now / 1000 / period) + delta;
}

/**
 * Seals all secrets with another key, including secrets of earlier versions that are not sealed yet. `reseal` returns undefined
 * for a secret that should stay as it is.
 */
export async function resealTwoFactorSecrets(
  tx: Transaction,
  reseal: (context: string, secret: { plain: Buffer } | { sealed: Buffer }) => Buffer | undefined,
): Promise<void> {
  for (const { secret, ...person } of await selectSecrets(tx)) {
    const isPlain = secret.length === secretLength; // a sealed one is longer
    const sealed = reseal(contextOf(person), isPlain ? { plain: secret } : { sealed: secret });
    if (sealed) await updateSecret(tx, person, secret, sealed);
  }
}

/** Turns off two-factor authentication, without a code. Returns whether it was on or being set up. */
export async function turnOffTwoFactor(db: Db, { accountId, userId }: Person): Promise<boolean> {
  return deleteTwoFactor(db, accountId, userId);
}
