// The first start: creates the first account, its administrator and its questions in one transaction, with the printed link.
import type { Detail } from '@soundings/contract/problem.ts';
import { createAccount } from '../../accounts/accounts.ts';
import { type Actor, audit } from '../../accounts/audit.ts';
import { rejectExpiredFirstStartLink, consumeFirstStartLink } from '../../auth/first-start.ts';
import { keepPassword, type PersonKey } from '../../auth/sign-in.ts';
import { digestPassword } from '../../auth/passwords.ts';
import { Fault } from '../../base/errors.ts';
import { emailFault, type FieldFault, nameFault } from '../../base/field-faults.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { createUser } from '../../people/users.ts';
import { defineLibrary } from '../../questions/questions.ts';

export type FirstStart = {
  secret: string;
  account: { name: string; language: string; timezone: string; threshold: number };
  administrator: { firstName: string; lastName: string; email: string; password: string };
};

/**
 * Creates the first account and returns its administrator. Throws a Fault if the link has expired or was used, and a Fault that
 * lists each invalid field.
 */
export async function createFirstAccount(
  pool: Pool,
  wanted: FirstStart,
  address: string,
): Promise<PersonKey> {
  const { secret, account, administrator } = wanted;
  refuseFields(wanted);
  await rejectExpiredFirstStartLink(pool, secret);
  const { password, ...names } = administrator;
  const hash = await digestPassword(password, names, 'administrator/password');
  return inTransaction(pool, async (tx) => {
    await consumeFirstStartLink(tx, secret);
    const actor: Actor = { origin: 'console', userId: null, address };
    const created = await atField('account', () => createAccount(tx, account, actor));
    const accountId = created.id;
    const userId = await createUser(tx, accountId, { ...names, role: 'Administrator' });
    await audit(tx, accountId, actor, 'person created', { subject: userId });
    await keepPassword(tx, { accountId, userId }, hash);
    await defineLibrary(tx, accountId, created.language);
    return { accountId, userId };
  });
}

function refuseFields({ account, administrator }: FirstStart): void {
  const { firstName, lastName, email } = administrator;
  const details: Detail[] = [];
  const report = (path: string, fault: FieldFault | undefined) => {
    if (fault) details.push({ ...fault, path });
  };
  report('/account/name', nameFault('name', account.name));
  report('/administrator/firstName', nameFault('firstName', firstName));
  report('/administrator/lastName', nameFault('lastName', lastName));
  report('/administrator/email', emailFault(email));
  const [first] = details;
  if (first) throw new Fault('invalid', first.type as 'invalid value', first.message, { details });
}

/** Runs `work`, and prefixes the paths of its faults with a field of the body. */
async function atField<T>(field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const details = error.details.map((detail) => ({
      ...detail,
      path: `/${field}/${(detail.path ?? '').replace(/^\//, '')}`,
    }));
    throw new Fault(error.kind, error.code, error.message, { details });
  }
}
