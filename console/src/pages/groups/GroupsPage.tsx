// The groups of the account as a tree that users can search, expand and rearrange.
import type { TreeGroup } from '@soundings/contract/console/groups.ts';
import { Navigate } from '@tanstack/react-router';
import { FolderTree, Plus } from 'lucide-react';
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { useAddress, useData } from '../../hooks/data.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { useSession } from '../../session.tsx';
import { useFormat, useText } from '../../text/text.tsx';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { Empty } from '../../ui/page/Empty.tsx';
import { Page, ToolbarText } from '../../ui/page/Page.tsx';
import { SearchField } from '../../ui/form/SearchField.tsx';
import { Loaded, Skeleton } from '../../ui/page/States.tsx';
import { GroupDialogs, type OpenGroupDialog } from './GroupDialogs.tsx';
import { GroupTree } from './tree/GroupTree.tsx';
import { DragGhost, MovingBar } from './tree/GroupRow.tsx';
import { type Drag, useDragging } from './tree/dragging.ts';
import { useExpandedGroups } from './tree/expanding.ts';
import { buildTree, found, mayMove, type Tree, treeRowOf, visibleRows } from './tree/tree.ts';

export function GroupsPage() {
  const t = useText();
  const response = useData('GET /groups/tree');
  const isAdministrator = hasRole(useSession().user, 'Administrator');
  const [only, ...others] = response.data?.groups ?? [];
  if (only && others.length === 0 && !isAdministrator) return <Navigate to={`/groups/${only.id}`} replace />;
  const waiting = (
    <Page title={t('groups.title')}>
      <Skeleton rows={14} />
    </Page>
  );
  return (
    <Loaded response={response} skeleton={waiting}>
      {({ groups }) => (groups.length > 0 ? <Groups groups={groups} /> : <NoGroups />)}
    </Loaded>
  );
}

function NoGroups() {
  const t = useText();
  const [doing, setDoing] = useState<OpenGroupDialog>();
  const isAdministrator = hasRole(useSession().user, 'Administrator');
  const add = (
    <Button kind="primary" icon={Plus} onClick={() => setDoing({ what: 'add' })}>
      {t('groups.add')}
    </Button>
  );
  return (
    <Page title={t('groups.title')} actions={isAdministrator && add}>
      <Empty
        icon={FolderTree}
        title={t('groups.none')}
        text={t(isAdministrator ? 'groups.noneText' : 'groups.noneOpen')}
        action={isAdministrator && <LinkButton to="/access">{t('groups.toAccess')}</LinkButton>}
      />
      <GroupDialogs doing={doing} tree={buildTree([])} onClose={() => setDoing(undefined)} />
    </Page>
  );
}

/** Handles the group that is being moved, from picking it up by keyboard or pointer until it is dropped or the move is cancelled. */
function useMoving(tree: Tree, isEditable: boolean, onPut: (id: number, target: number | null) => void) {
  const [moving, move] = useState<number>();
  const [notThere, setNotThere] = useState<string>();
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const setMoving = (id: number | undefined) => {
    setNotThere(undefined);
    move(id);
  };
  const put = (id: number, target: number | null) => {
    if (!mayMove(tree, id, target)) {
      setNotThere(target === null ? undefined : treeRowOf(tree, target)?.name);
      return false;
    }
    setMoving(undefined);
    onPut(id, target);
    return true;
  };
  const { drag, begin } = useDragging({
    isOn: isEditable,
    scroller,
    onStart: setMoving,
    onDrop(id, over) {
      if (over === undefined || !put(id, over === 'top' ? null : Number(over))) setMoving(undefined);
    },
    onCancel: () => setMoving(undefined),
  });
  return { moving, notThere, setMoving, put, drag, begin, setScroller };
}

function Groups({ groups }: { groups: TreeGroup[] }) {
  const tree = useMemo(() => buildTree(groups), [groups]);
  const expanding = useExpandedGroups(tree);
  const [{ q = '' }, setAddress] = useAddress<'q'>();
  const [doing, setDoing] = useState<OpenGroupDialog>();
  const isEditable = hasRole(useSession().user, 'Administrator');
  const search = useMemo(() => (q ? found(tree, q) : undefined), [tree, q]);
  const rows = useMemo(
    () => search?.rows ?? visibleRows(tree, expanding.expanded),
    [search, tree, expanding.expanded],
  );
  const { moving, notThere, setMoving, put, drag, begin, setScroller } = useMoving(
    tree,
    isEditable,
    (id, target) => {
      const group = treeRowOf(tree, id);
      if (group) setDoing({ what: 'move', group, target });
    },
  );
  const mayDrop = useCallback(
    (target: number | null) => moving !== undefined && mayMove(tree, moving, target),
    [tree, moving],
  );
  const lifted = moving === undefined ? undefined : treeRowOf(tree, moving);
  return (
    <Frame
      groups={groups}
      search={q}
      onSearch={(text) => setAddress({ q: text })}
      matches={search?.matches.size}
      expanding={expanding}
      onAdd={isEditable ? () => setDoing({ what: 'add' }) : undefined}
      moving={
        lifted && (
          <MovingBar
            name={lifted.name}
            notThere={notThere}
            isOverTop={drag?.over === 'top'}
            mayTop={mayDrop(null)}
            onTop={() => put(lifted.id, null)}
            onCancel={() => setMoving(undefined)}
          />
        )
      }
    >
      {rows.length === 0 ? (
        <NoMatch onClear={() => setAddress({ q: undefined })} />
      ) : (
        <GroupTree
          {...{ tree, rows, moving, drag, mayDrop, isEditable, matches: search?.matches }}
          open={expanding.expanded}
          onExpand={expanding.expand}
          onCollapse={expanding.collapse}
          onLift={setMoving}
          onDrop={(target) => moving !== undefined && put(moving, target)}
          onCancel={() => setMoving(undefined)}
          onGrab={begin}
          onAction={(what, group) => setDoing({ what, group })}
          onScroller={setScroller}
        />
      )}
      <Dragged drag={drag} tree={tree} onRest={expanding.expand} />
      <GroupDialogs doing={doing} tree={tree} onClose={() => setDoing(undefined)} />
    </Frame>
  );
}

type FrameProps = {
  groups: TreeGroup[];
  search: string;
  onSearch: (search: string) => void;
  matches: number | undefined;
  expanding: ReturnType<typeof useExpandedGroups>;
  onAdd: (() => void) | undefined;
  moving: ReactNode;
  children: ReactNode;
};

function Frame({ groups, search, onSearch, matches, expanding, onAdd, moving, children }: FrameProps) {
  const t = useText();
  const { number } = useFormat();
  const managed = number(groups.filter((group) => group.managed).length);
  const isSearching = matches !== undefined;
  return (
    <Page
      title={t('groups.title')}
      subtitle={t('groups.subtitle', { count: groups.length, managed })}
      actions={
        onAdd && (
          <Button kind="primary" icon={Plus} onClick={onAdd}>
            {t('groups.add')}
          </Button>
        )
      }
      toolbar={
        <>
          <SearchField label={t('groups.search')} value={search} onChange={onSearch} />
          {!isSearching && (
            <>
              <Button kind="quiet" onClick={expanding.expandAll}>
                {t('groups.expandAll')}
              </Button>
              <Button kind="quiet" onClick={expanding.collapseAll}>
                {t('groups.collapseAll')}
              </Button>
            </>
          )}
          {isSearching && <ToolbarText>{t('groups.found', { count: matches })}</ToolbarText>}
          {moving}
        </>
      }
    >
      {children}
    </Page>
  );
}

function NoMatch({ onClear }: { onClear: () => void }) {
  const t = useText();
  return (
    <Empty
      icon={FolderTree}
      title={t('state.noMatch')}
      text={t('groups.noMatch')}
      action={<Button onClick={onClear}>{t('action.clearFilters')}</Button>}
    />
  );
}

/** How long a dragged group must be over a collapsed group until that group expands, in ms. */
const expandAfter = 600;

function Dragged(props: { drag: Drag | undefined; tree: Tree; onRest: (id: number) => void }) {
  const { drag, tree, onRest } = props;
  const over = drag?.over;
  useEffect(() => {
    if (over === undefined || over === 'top') return undefined;
    const timer = setTimeout(() => onRest(Number(over)), expandAfter);
    return () => clearTimeout(timer);
  }, [over, onRest]);
  const group = drag && treeRowOf(tree, drag.id);
  return group ? <DragGhost name={group.name} x={drag.x} y={drag.y} /> : null;
}
