// Checks the strength of passwords and hashes them, only a few at the same time, so that memory use doesn't grow with the number of
// people who sign in.
import { minPasswordLength } from '@soundings/contract/limits.ts';
import { Fault } from '../base/errors.ts';
import { hashPassword, isPassword } from '../base/crypto/secrets.ts';

/** The names and address of a person. A password must not consist of these alone. */
export type NamedPerson = { firstName: string; lastName: string; email: string | null };

/** Throws a Fault at `/path` that says why a password is too weak. */
export async function rejectWeakPassword(
  password: string,
  person: NamedPerson,
  path = 'password',
): Promise<void> {
  const weakness = await weaknessOf(password, person);
  if (weakness === undefined) return;
  const details = [{ type: weakness, message: reasons[weakness], path: `/${path}` }];
  throw new Fault('invalid', weakness, reasons[weakness], { details });
}

const reasons = {
  'short password': `The password must have at least ${minPasswordLength} characters.`,
  'password of names': 'The password must not consist of your name or email address. Choose another one.',
  'common password': 'This password is too common and easy to guess. Choose another one.',
};

async function weaknessOf(password: string, person: NamedPerson): Promise<keyof typeof reasons | undefined> {
  if ([...password].length < minPasswordLength) return 'short password';
  if (isOfNames(password, person)) return 'password of names';
  return isMonotonous(password) || (await isCommon(password)) ? 'common password' : undefined;
}

/** Returns only the letters of a text, in lower case and without accents. */
const letters = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}]/gu, '');

/** Returns whether fewer than four letters remain after removing the person's names and address. */
function isOfNames(password: string, { firstName, lastName, email }: NamedPerson): boolean {
  const [local = '', domain = ''] = (email ?? '').split('@');
  const names = [firstName, lastName, ...local.split(/[._+-]/), ...domain.split('.')]
    .flatMap((name) => [name, ...name.split(/[\s-]/)])
    .map(letters)
    .filter((name) => name.length >= 3)
    .toSorted((a, b) => b.length - a.length);
  let rest = letters(password);
  for (const name of names) rest = rest.replaceAll(name, '');
  return rest !== letters(password) && rest.length < 4;
}

/** Returns whether a password has fewer than five different characters, or is a sequence such as 123456789012 or abcdefghijkl. */
function isMonotonous(password: string): boolean {
  const units = [...password.toLowerCase()].map((one) => one.codePointAt(0) as number);
  const steps = units.slice(1).map((unit, i) => Math.abs(unit - (units[i] as number)));
  return new Set(units).size < 5 || steps.filter((step) => step > 1).length <= 1;
}

/**
 * Returns whether a password is one of the most common passwords: alone, surrounded by digits and symbols (password1234), or
 * repeated (sunshinesunshine).
 */
async function isCommon(password: string): Promise<boolean> {
  const common = await commonPasswords();
  const whole = password.toLowerCase();
  const stem = whole.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  const once = (text: string) => /^(.+?)\1+$/u.exec(text)?.[1] ?? text;
  return [whole, stem, once(whole), once(stem)].some((text) => text.length >= 4 && common.has(text));
}

let common: Promise<ReadonlySet<string>> | undefined;

/** Returns about 50,000 common passwords in lower case. They are loaded when the first password is set. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  common ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'] as string[]),
  );
  return common;
}

/**
 * Each Argon2 hash takes 19 MiB and one of four threads. While a hundred callers are waiting, further callers must try again later.
 */
const [digestsAtOnce, digestsWaiting] = [3, 100];
let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= digestsAtOnce) {
    if (waiting.length >= digestsWaiting) {
      throw new Fault(
        'unavailable',
        'unavailable',
        'Too many people are signing in at the same time. Try again in a moment.',
        {
          retryAfter: 2,
        },
      );
    }
    await new Promise<void>((resolve) => void waiting.push(resolve));
  } else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

/**
 * Returns the hash of a person's new password. Don't call it in a transaction, because it may have to wait. Throws a Fault for a
 * weak password (see rejectWeakPassword) and if too many callers are waiting.
 */
export async function digestPassword(password: string, person: NamedPerson, path?: string): Promise<string> {
  await rejectWeakPassword(password, person, path);
  return inTurn(() => hashPassword(password));
}

/** Like isPassword in base/crypto/secrets.ts, but limited to a few calls at the same time. Throws a Fault if too many callers are waiting. */
export const matchesPassword = (password: string, hash: string): Promise<boolean> =>
  inTurn(() => isPassword(password, hash));
