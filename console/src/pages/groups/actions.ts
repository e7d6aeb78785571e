// What can be done to a group.
import { useRefresh } from '../../plumbing/answers.ts';

export type GroupAction = 'add' | 'edit' | 'move' | 'adopt' | 'release' | 'remove';

/** A group as the dialogs need it. */
export type GroupInHand = {
  id: number;
  name: string;
  externalId: string | null;
  parentId: number | null;
};

/** Asks for everything that shows groups anew. */
export function useGroupsRefresh(): () => Promise<void> {
  const refresh = useRefresh();
  return () => refresh('GET /groups/tree', 'GET /groups/{groupId}', 'GET /groups/{groupId}/move');
}
