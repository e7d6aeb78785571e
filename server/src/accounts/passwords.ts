// Which passwords are good enough, and digesting them: a few at once, so that many who sign in take no more memory than few.
import { minPasswordLength } from '@soundings/contract/limits.ts';
import { Fault } from '../base/errors.ts';
import { hashPassword, isPassword } from '../base/secrets.ts';

/** What of a person must not be all that a password is made of. */
export type Named = { firstName: string; lastName: string; email: string | null };

/** Throws a Fault, with the place `/path`, that says what is wrong with a password. */
export async function refuseWeakPassword(password: string, person: Named, path = 'password'): Promise<void> {
  const weakness = await weaknessOf(password, person);
  if (weakness === undefined) return;
  const details = [{ type: weakness, message: reasons[weakness], path: `/${path}` }];
  throw new Fault('invalid', weakness, reasons[weakness], { details });
}

const reasons = {
  'short password': `A password must have at least ${minPasswordLength} characters.`,
  'password of names': 'A password must be more than your own name or address.',
  'common password': 'This password is among those that are tried first. Choose another.',
};

async function weaknessOf(password: string, person: Named): Promise<keyof typeof reasons | undefined> {
  if ([...password].length < minPasswordLength) return 'short password';
  if (isOfNames(password, person)) return 'password of names';
  return isMonotonous(password) || (await isCommon(password)) ? 'common password' : undefined;
}

/** What is left of a text when only letters count: case, marks, digits and signs aside. */
const letters = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^\p{L}]/gu, '');

/** Whether fewer than four letters or other characters are left without the person's names and address. */
function isOfNames(password: string, { firstName, lastName, email }: Named): boolean {
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

/** Fewer than five different characters, or each one beside the one before it, as in 123456789012 and abcdefghijkl. */
function isMonotonous(password: string): boolean {
  const units = [...password.toLowerCase()].map((one) => one.codePointAt(0) as number);
  const steps = units.slice(1).map((unit, i) => Math.abs(unit - (units[i] as number)));
  return new Set(units).size < 5 || steps.filter((step) => step > 1).length <= 1;
}

/**
 * Whether it is one of the passwords that people choose most, as it is or with digits and signs around it, or such a one
 * said several times: password1234, sunshinesunshine.
 */
async function isCommon(password: string): Promise<boolean> {
  const common = await commonPasswords();
  const whole = password.toLowerCase();
  const stem = whole.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  const once = (text: string) => /^(.+?)\1+$/u.exec(text)?.[1] ?? text;
  return [whole, stem, once(whole), once(stem)].some((text) => text.length >= 4 && common.has(text));
}

let common: Promise<ReadonlySet<string>> | undefined;

/** Some 50,000, in lower case; read when the first password is set. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  common ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'] as string[]),
  );
  return common;
}

/** Argon2 takes 19 MiB and a thread of four for each; whoever would wait behind a hundred is told to come again. */
const [digestsAtOnce, digestsWaiting] = [3, 100];
let running = 0;
const waiting: (() => void)[] = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= digestsAtOnce) {
    if (waiting.length >= digestsWaiting) {
      throw new Fault('unavailable', 'unavailable', 'Very many are signing in. Try again in a moment.', {
        retryAfter: 2,
      });
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
 * The digest of a password that a person is to have: not within a transaction, as it waits for its turn. Throws a Fault
 * for a weak password (see refuseWeakPassword), and when too many wait.
 */
export async function digestPassword(password: string, person: Named, path?: string): Promise<string> {
  await refuseWeakPassword(password, person, path);
  return inTurn(() => hashPassword(password));
}

/** As base/secrets.ts has it, in turn. Throws a Fault when too many wait. */
export const fitsPassword = (password: string, hash: string): Promise<boolean> =>
  inTurn(() => isPassword(password, hash));
