// The console: inviting many people to sign in at once. For administrators only.
import { Type } from 'typebox';
import type { Role } from '../people/roles.ts';
import { operation } from './operation.ts';
import { Chosen, type Invitation } from './people.ts';

/** Someone who would be invited, or can't be. */
export type InvitedPerson = {
  id: number;
  name: string;
  /** Where the invitation goes. */
  email: string | null;
  role: Role;
  /** The latest invitation, if any: this one is a reminder. */
  invitation: Invitation | null;
};

/** Who would be invited, or was. */
export type Invitations = {
  /** How: by email, or with a sheet of links where the installation sends no email. */
  by: 'mail' | 'sheet';
  /** How many are invited. `people`: at most 200 of them, by name. */
  inviting: number;
  people: InvitedPerson[];
  /** How many of them were invited before. */
  reminding: number;
  /** How many can't be invited because they have no email address. `withoutEmailPeople`: at most 200 of them, by name. */
  withoutEmail: number;
  withoutEmailPeople: InvitedPerson[];
  /** Why others are not invited: how many were invited by email within the last day, have a password, have the User role, … */
  recent: number;
  signedIn: number;
  users: number;
  inactive: number;
  unconfirmed: number;
  /** Identifies the people who would be invited. Send it back to invite them: they are invited only if they are still the same. */
  seen: string;
  /** The sheet, once: its links are not stored. Null: a preview, or by email. */
  sheet: { name: string; csv: string } | null;
};

export const invitationOperations = {
  /** Invites people who have a role other than User and no password yet, or only returns who would be invited. */
  'POST /users/invitations': operation<Invitations>()({
    minimumRole: 'Administrator',
    body: Type.Object(
      {
        chosen: Chosen,
        isPreview: Type.Boolean({ description: 'True: only return who would be invited.' }),
        seen: Type.Optional(
          Type.String({ maxLength: 100, description: 'The value that the preview returned.' }),
        ),
      },
      { additionalProperties: false },
    ),
  }),
};
