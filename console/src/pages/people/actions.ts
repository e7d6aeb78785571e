// The actions on a person.
import type { Invitation } from '@soundings/contract/console/people.ts';
import type { Role } from '@soundings/contract/people/roles.ts';
import { useRefresh } from '../../hooks/data.ts';

export type PersonAction = 'adopt' | 'release' | 'remove' | 'link' | 'sessions' | 'twoFactor' | 'emails';

/** The fields of a person that the dialogs need. */
export type SelectedPerson = {
  id: number;
  firstName: string;
  lastName: string;
  email: string | null;
  externalId: string | null;
  byDirectory: boolean;
  role: Role;
  /** The latest invitation of someone who can't sign in yet, and whether a person with a role was never invited. */
  invitation?: Invitation | null;
  isUninvited?: boolean;
  signIn?: { hasPassword: boolean; invitation: Invitation | null };
};

/** Returns how a link for a person is named: an invitation, until they have a password. */
export function linkKindOf({
  invitation,
  isUninvited,
  signIn,
}: SelectedPerson): 'invite' | 'remind' | 'link' {
  if (signIn ? signIn.invitation : invitation) return 'remind';
  return (signIn ? !signIn.hasPassword : isUninvited) ? 'invite' : 'link';
}

/** Returns a function that refetches everything that shows people. */
export function usePeopleRefresh(): () => Promise<void> {
  const refresh = useRefresh();
  return () =>
    refresh('GET /users', 'GET /users/{userId}', 'GET /groups/tree', 'GET /directory/people/{userId}');
}
