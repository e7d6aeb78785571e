// The second step of signing in: codes by time (TOTP, RFC 6238), of which each is taken once, and ten recovery codes for whoever
// has lost the phone.
import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { Fault } from '../base/errors.ts';
import type { Sealer } from '../base/sealer.ts';
import { tokenHash } from '../base/secrets.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import {
  deleteRecoveryCode,
  deleteSecondStep,
  deleteUnconfirmed,
  replaceRecoveryCodes,
  selectSecondStep,
  selectSecrets,
  updateLastStep,
  updateOn,
  updateSecret,
  upsertSecret,
} from './totp.sql.ts';

export { deleteUnconfirmed as forgetUnconfirmed };

type Person = { accountId: AccountId; userId: number };

const [period, codes] = [30, 10];

/** What the secret of a person is sealed for. */
const contextOf = ({ accountId, userId }: Person) => `second step ${accountId}/${userId}`;

const secretLength = 20; // as long as the digest that codes are made by (RFC 4226 §4)

const totpOf = (secret: Buffer, label = '') =>
  new TOTP({ issuer: 'Soundings', label, secret: new Secret({ buffer: bufferOf(secret) }), period });

/** A copy: a small Buffer is a window on a larger one. */
const bufferOf = (bytes: Buffer) => Uint8Array.from(bytes).buffer;

/** How an app is told of a secret: as text, as an address (otpauth:), and as the modules of a QR code, rows of 0 and 1. */
export type Setup = { secret: string; address: string; matrix: string[] };

/** Makes a secret, which counts when a code has confirmed it. `label`: what the app shows. Throws a Fault when the step is on. */
export async function beginSecondStep(
  db: Db,
  secrets: Sealer,
  person: Person,
  label: string,
): Promise<Setup> {
  const { accountId, userId } = person;
  const secret = randomBytes(secretLength);
  if (!(await upsertSecret(db, accountId, userId, await secrets.seal(contextOf(person), secret)))) {
    throw new Fault('conflict', 'invalid value', 'Codes are asked for already. Turn that off first.');
  }
  const totp = totpOf(secret, label);
  const address = totp.toString();
  return { secret: totp.secret.base32, address, matrix: await matrixOf(address) };
}

async function matrixOf(text: string): Promise<string[]> {
  const { create } = await import('qrcode'); // here, as commands that need no picture would wait for it
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  return Array.from({ length: modules.size }, (_, row) =>
    Array.from({ length: modules.size }, (__, column) => modules.get(row, column)).join(''),
  );
}

/** Turns the second step on by a first code, and returns the recovery codes. `now`: ms. Throws a Fault for a wrong code. */
export async function confirmSecondStep(
  tx: Transaction,
  secrets: Sealer,
  person: Person,
  code: string,
  now: number,
): Promise<string[]> {
  const { accountId, userId } = person;
  const kept = await selectSecondStep(tx, accountId, userId);
  if (!kept || kept.onSince !== null) {
    throw new Fault('conflict', 'invalid value', 'Begin anew: this was confirmed already, or has expired.');
  }
  const secret = await secrets.open(contextOf(person), kept.secret);
  const step = secret && stepOf(secret, digitsOf(code), now);
  if (step === undefined || !(await updateLastStep(tx, accountId, userId, step))) {
    const message = 'This is not the code that the app shows now. Is the time of your phone right?';
    const details = [{ type: 'wrong code', message, path: '/code' }];
    throw new Fault('invalid', 'wrong code', message, { details });
  }
  await updateOn(tx, accountId, userId);
  return newRecoveryCodes(tx, person);
}

/** New recovery codes in place of those before: each of ten letters and digits, 50 bits. */
export async function newRecoveryCodes(db: Db, { accountId, userId }: Person): Promise<string[]> {
  const made = Array.from({ length: codes }, recoveryCode);
  await replaceRecoveryCodes(
    db,
    accountId,
    userId,
    made.map((code) => tokenHash(plain(code))),
  );
  return made;
}

/** Without letters and digits that look alike (Crockford's base 32). */
const letters = '0123456789abcdefghjkmnpqrstvwxyz';

function recoveryCode(): string {
  const text = [...randomBytes(10)].map((byte) => letters[byte % 32]).join('');
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}

const digitsOf = (code: string) => code.replaceAll(/[\s-]/g, '');
const plain = (code: string) => digitsOf(code).toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1');

/** Whether a code is good, of either kind; it is used up. `now`: ms. */
export async function checkSecondStep(
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
  const kept = await selectSecondStep(db, accountId, userId);
  const secret = kept && (await secrets.open(contextOf(person), kept.secret));
  const step = secret && stepOf(secret, digitsOf(code), now);
  if (step === undefined || !(await updateLastStep(db, accountId, userId, step))) return undefined;
  return 'code';
}

/** The step of 30 s that a code is of: the present one, or one beside it, as clocks differ. */
function stepOf(secret: Buffer, code: string, now: number): number | undefined {
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: 1 });
  return delta === null ? undefined : Math.floor(now / 1000 / period) + delta;
}

/**
 * Seals secrets by another key, and those of earlier versions that are not sealed. `reseal` returns undefined for one that is to stay
 * as it is.
 */
export async function resealSecondSteps(
  tx: Transaction,
  reseal: (context: string, secret: { plain: Buffer } | { sealed: Buffer }) => Buffer | undefined,
): Promise<void> {
  for (const { secret, ...person } of await selectSecrets(tx)) {
    const isPlain = secret.length === secretLength; // a sealed one is longer
    const sealed = reseal(contextOf(person), isPlain ? { plain: secret } : { sealed: secret });
    // oxlint-disable-next-line no-await-in-loop -- once in the life of an installation
    if (sealed) await updateSecret(tx, person.accountId, person.userId, sealed);
  }
}

/** Turns the second step off, also for somebody who has lost phone and recovery codes. Whether it was on, or being set up. */
export async function turnOffSecondStep(db: Db, { accountId, userId }: Person): Promise<boolean> {
  return deleteSecondStep(db, accountId, userId);
}
