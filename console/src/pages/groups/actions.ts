// The actions on a group.
import { useRefresh } from '../../hooks/data.ts';

export type GroupAction = 'add' | 'edit' | 'move' | 'adopt' | 'release' | 'remove';

/** The fields of a group that the dialogs need. */
export type SelectedGroup = {
  id: number;
  name: string;
  externalId: string | null;
  parentId: number | null;
};

/** Returns a function that refetches everything that shows groups. */
export function useGroupsRefresh(): () => Promise<void> {
  const refresh = useRefresh();
  return () =>
    refresh(
      'GET /groups/tree',
      'GET /groups/{groupId}/subgroups',
      'GET /groups/found',
      'GET /groups/options',
      'GET /groups/{groupId}',
      'GET /groups/{groupId}/move',
    );
}
