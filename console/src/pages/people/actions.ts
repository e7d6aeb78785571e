// The actions on a person.
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
  role: Role;
};

/** Returns a function that refetches everything that shows people. */
export function usePeopleRefresh(): () => Promise<void> {
  const refresh = useRefresh();
  return () => refresh('GET /users', 'GET /users/{userId}', 'GET /groups/tree');
}
