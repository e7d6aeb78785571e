// The commands for attributes, groups and users that are managed manually.
import { audit } from '../accounts/audit.ts';
import { inTransaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { createUser } from '../people/users.ts';
import { confirmByAddress } from '../people/administrators.ts';
import {
  account,
  accountOf,
  type Command,
  commaList,
  list,
  numberOf,
  required,
  text,
  wholeNumber,
} from './options.ts';

export const peopleCommands: Record<string, Command> = {
  'attribute define': {
    usage: '--account ID --name gender [--values Male,Female]\n    Defines a custom attribute of users.',
    options: { ...account, name: text, values: text },
    run: (pool, values) => {
      const allowedValues = values['values'] === undefined ? null : commaList(String(values['values']));
      return inTransaction(pool, async (tx) => {
        const defined = await defineAttribute(tx, accountOf(values), {
          name: required(values, 'name'),
          allowedValues,
        });
        return { name: defined.name, values: defined.allowedValues };
      });
    },
    format: ({ name, values }: { name: string; values: string[] | null }) =>
      `Attribute "${name}" allows ${values ? values.join(', ') : 'any text'}.`,
  },
  'group create': {
    usage: '--account ID --name N [--external-id X] [--parent GROUP_ID]\n    Creates a group manually.',
    options: { ...account, name: text, 'external-id': text, parent: text },
    run: async (pool, values) => ({
      id: await inTransaction(pool, (tx) =>
        createGroup(tx, accountOf(values), {
          name: required(values, 'name'),
          ...(values['external-id'] !== undefined && { externalId: String(values['external-id']) }),
          ...(values['parent'] !== undefined && { parentId: numberOf(values, 'parent') }),
        }),
      ),
    }),
    format: ({ id }: { id: number }) => `Group ${id} created.`,
  },
  'user confirm': {
    usage:
      '--account ID --email E\n' +
      '    Confirms an administrator that a push or file created, or whose email address it changed.\n' +
      '    Until then they have the User role.',
    options: { ...account, email: text },
    run: (pool, values) =>
      inTransaction(pool, async (tx) => {
        const accountId = accountOf(values);
        const id = await confirmByAddress(tx, accountId, required(values, 'email'));
        await audit(tx, accountId, { origin: 'command' }, 'administrator confirmed', { subject: id });
        return { id };
      }),
    format: ({ id }: { id: number }) =>
      `User ${id} is now an Administrator. New administrators must set a new password: send a link from the console, or let them use "Set or reset your password" on the sign-in page.`,
  },
  'user create': {
    usage:
      '--account ID --first-name F --last-name L [--email E] [--role R] [--external-id X] [--member-of GROUP_ID …]\n' +
      '    [--timezone Z] [--language L]\n' +
      '    Creates a user manually.',
    options: {
      ...account,
      'first-name': text,
      'last-name': text,
      email: text,
      role: text,
      'external-id': text,
      'member-of': list,
      timezone: text,
      language: text,
    },
    run: async (pool, values) => ({
      id: await inTransaction(pool, (tx) =>
        createUser(tx, accountOf(values), {
          firstName: required(values, 'first-name'),
          lastName: required(values, 'last-name'),
          ...(values['email'] !== undefined && { email: String(values['email']) }),
          ...(values['role'] !== undefined && { role: String(values['role']) }),
          ...(values['external-id'] !== undefined && { externalId: String(values['external-id']) }),
          ...(values['timezone'] !== undefined && { timezone: String(values['timezone']) }),
          ...(values['language'] !== undefined && { language: String(values['language']) }),
          memberships: {
            memberOf: ((values['member-of'] as string[] | undefined) ?? []).map((id) =>
              wholeNumber(id, 'member-of'),
            ),
          },
        }),
      ),
    }),
    format: ({ id }: { id: number }) => `User ${id} created.`,
  },
};
