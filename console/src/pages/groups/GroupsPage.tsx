// The groups of the account as a tree that users can search, expand and rearrange.
import type { TreeOfGroups } from '@soundings/contract/console/groups.ts';
import { Navigate } from '@tanstack/react-router';
import { FolderTree, Plus } from 'lucide-react';
import { type ReactNode, useCallback, useEffect, useMemo, useState } from 'react';
import { useAddress, useData } from '../../hooks/data.ts';
import { useRested } from '../../hooks/rested.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { useSession } from '../../session.tsx';
import { useFormat, useText } from '../../text/text.tsx';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { Empty } from '../../ui/page/Empty.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { Page, ToolbarText } from '../../ui/page/Page.tsx';
import { SearchField } from '../../ui/form/SearchField.tsx';
import { Failed, Loaded, Skeleton } from '../../ui/page/States.tsx';
import { GroupDialogs, type OpenGroupDialog } from './GroupDialogs.tsx';
import { GroupTree } from './tree/GroupTree.tsx';
import { DragGhost, MovingBar } from './tree/GroupRow.tsx';
import { type Drag, useDragging } from './tree/dragging.ts';
import { useExpandedGroups } from './tree/expanding.ts';
import { firstExpanded, firstExpandedOf } from './tree/expanded-groups.ts';
import { useTreeLevels } from './tree/levels.ts';
import {
  buildTree,
  buildTreeOfLevels,
  found,
  mayMove,
  type Tree,
  type TreeRow,
  treeRowOf,
  visibleRows,
} from './tree/tree.ts';

export function GroupsPage() {
  const t = useText();
  const response = useData('GET /groups/tree');
  const isAdministrator = hasRole(useSession().user, 'Administrator');
  const only = response.data?.count === 1 ? response.data.groups[0] : undefined;
  if (only && !isAdministrator) return <Navigate to={`/groups/${only.id}`} replace />;
  const waiting = (
    <Page title={t('groups.title')}>
      <Skeleton rows={14} />
    </Page>
  );
  return (
    <Loaded response={response} skeleton={waiting}>
      {(tree) =>
        tree.count === 0 ? <NoGroups /> : tree.isWhole ? <WholeTree all={tree} /> : <TreeInParts all={tree} />
      }
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

/** What the page shows: the tree, its visible rows and, if there is a search, the groups that match. */
type Seen = {
  tree: Tree;
  rows: TreeRow[];
  search: { matches: ReadonlySet<number>; total: number } | undefined;
};

function WholeTree({ all }: { all: TreeOfGroups }) {
  const tree = useMemo(() => buildTree(all.groups), [all]);
  const expanding = useExpandedGroups(() => firstExpanded(tree));
  const [{ q = '' }] = useAddress<'q'>();
  const seen = useMemo((): Seen => {
    const search = q ? found(tree, q) : undefined;
    return {
      tree,
      rows: search?.rows ?? visibleRows(tree, expanding.expanded),
      search: search && { matches: search.matches, total: search.matches.size },
    };
  }, [tree, q, expanding.expanded]);
  return <Groups all={all} seen={seen} expanding={expanding} onExpandAll={() => expanding.expandAll(tree)} />;
}

/** A tree of very many groups: the levels are loaded when they are opened, and the server searches. */
function TreeInParts({ all }: { all: Extract<TreeOfGroups, { isWhole: false }> }) {
  const t = useText();
  const whole = useExpandedGroups(() => firstExpandedOf(all.groups));
  const { expand } = whole;
  const expanding = {
    ...whole,
    // Each level is a request.
    expand: useCallback((...ids: number[]) => expand(...ids.slice(0, mostTogether)), [expand]),
  };
  const [{ q = '' }] = useAddress<'q'>();
  const { tree, unlisted, isWaiting, error } = useTreeLevels(all.groups, expanding.expanded);
  const wanted = useRested(q);
  const search = useData('GET /groups/found', { query: { search: wanted } }, { when: wanted !== '' });
  const read = q === '' || wanted === '' ? undefined : search.data;
  const seen = useMemo((): Seen => {
    if (!read) return { tree, rows: visibleRows(tree, expanding.expanded), search: undefined };
    const ofFound = buildTreeOfLevels(Map.groupBy(read.groups, ({ parentId }) => parentId));
    return {
      tree: ofFound,
      rows: ofFound.rows,
      search: { matches: new Set(read.matches), total: read.total },
    };
  }, [tree, read, expanding.expanded]);
  const failure = q === '' ? error : search.error;
  return (
    <Groups all={all} seen={seen} expanding={expanding} isWaiting={q === '' ? isWaiting : search.isFetching}>
      {failure && <Failed error={failure} />}
      {read && read.total > read.matches.length && (
        <Notice>{t('groups.foundFirst', { count: read.matches.length })}</Notice>
      )}
      {q === '' &&
        unlisted.map(({ id, name, count }) => (
          <Notice key={id}>
            {id === null ? t('groups.firstOfTop', { count }) : t('groups.firstOf', { count, name })}
          </Notice>
        ))}
    </Groups>
  );
}

/** How many groups the * key expands together in a tree that is loaded in parts. */
const mostTogether = 20;

type GroupsProps = {
  all: TreeOfGroups;
  seen: Seen;
  expanding: ReturnType<typeof useExpandedGroups>;
  onExpandAll?: () => void;
  isWaiting?: boolean;
  /** Notes above the tree. */
  children?: ReactNode;
};

function Groups({ all, seen, expanding, onExpandAll, isWaiting, children }: GroupsProps) {
  const { tree, rows, search } = seen;
  const [{ q = '' }, setAddress] = useAddress<'q'>();
  const [doing, setDoing] = useState<OpenGroupDialog>();
  const isEditable = hasRole(useSession().user, 'Administrator');
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
      all={all}
      search={q}
      onSearch={(text) => setAddress({ q: text })}
      matches={search?.total}
      onExpandAll={onExpandAll}
      onCollapseAll={expanding.collapseAll}
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
      {children}
      {rows.length === 0 && isWaiting ? (
        <Skeleton rows={14} />
      ) : rows.length === 0 ? (
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
  all: TreeOfGroups;
  search: string;
  onSearch: (search: string) => void;
  matches: number | undefined;
  onExpandAll: (() => void) | undefined;
  onCollapseAll: () => void;
  onAdd: (() => void) | undefined;
  moving: ReactNode;
  children: ReactNode;
};

function Frame(props: FrameProps) {
  const { all, search, onSearch, matches, onExpandAll, onCollapseAll, onAdd, moving, children } = props;
  const t = useText();
  const { number } = useFormat();
  const isSearching = matches !== undefined;
  return (
    <Page
      title={t('groups.title')}
      subtitle={t('groups.subtitle', { count: all.count, managed: number(all.managed) })}
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
              {onExpandAll && (
                <Button kind="quiet" onClick={onExpandAll}>
                  {t('groups.expandAll')}
                </Button>
              )}
              <Button kind="quiet" onClick={onCollapseAll}>
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
