// A row of the group tree.
import { Link } from '@tanstack/react-router';
import {
  ArrowUpRight,
  ChevronRight,
  CornerDownRight,
  Ellipsis,
  Hand,
  Lock,
  LockOpen,
  Move,
  Pencil,
  Plus,
  Trash2,
  Users,
} from 'lucide-react';
import type { CSSProperties } from 'react';
import { useFormat, useText } from '../../../text/text.tsx';
import { cx } from '../../../ui/cx.ts';
import { Menu, type MenuItem } from '../../../ui/floating/Menu.tsx';
import type { GroupAction } from '../actions.ts';
import type { TreeProps } from './tree-props.ts';
import type { TreeRow } from './tree.ts';
import floating from '../../../ui/floating/floating.module.css';
import css from './GroupTree.module.css';

type RowProps = TreeProps & {
  row: TreeRow;
  isActive: boolean;
  onFocus: (id: number) => void;
  /** The distance from the top of the tree, in pixels. */
  start: number;
};

export function GroupRow(props: RowProps) {
  const { row, isActive, matches, open, moving, drag, isEditable } = props;
  const t = useText();
  const isOpen = matches !== undefined || open.has(row.id);
  const isClosed = moving !== undefined && !props.mayDrop(row.id);
  const isOver = drag?.over === String(row.id) && !isClosed;
  const { number } = useFormat();
  // The visible text, followed by its meaning for screen readers.
  const label = [
    [row.name, number(row.people), row.externalId].filter(Boolean).join(' '),
    t('groups.people', { count: row.people }),
    t(row.managed ? 'groups.managed' : 'groups.manual'),
  ].join(', ');
  return (
    <div
      role="treeitem"
      data-row={row.id}
      data-drop={row.id}
      aria-level={row.level}
      aria-posinset={row.place}
      aria-setsize={row.siblings}
      aria-expanded={row.children > 0 ? isOpen : undefined}
      aria-selected={moving === row.id}
      aria-disabled={isClosed || undefined}
      aria-label={label}
      tabIndex={isActive ? 0 : -1}
      className={cx(
        css['row'],
        moving === row.id && css['lifted'],
        isClosed && css['closed'],
        isOver && css['over'],
        matches && !matches.has(row.id) && css['way'],
      )}
      style={{ transform: `translateY(${props.start}px)`, '--level': row.level - 1 } as CSSProperties}
      onFocus={() => props.onFocus(row.id)}
      onPointerDown={(event) => props.onGrab(event, row.id)}
    >
      <Chevron {...props} isOpen={isOpen} />
      <Link to={`/groups/${row.id}`} className={css['name']} tabIndex={-1} draggable={false}>
        {row.name}
      </Link>
      <People count={row.people} />
      <span className={css['gap']} /> {row.managed && <Lock aria-hidden size={13} className={css['lock']} />}
      <span className={css['id']}>{row.externalId}</span>
      {isEditable && (
        <RowMenu row={row} isActive={isActive} onAction={(action) => props.onAction(action, row)} />
      )}
    </div>
  );
}

function Chevron({ row, isOpen, matches, onCollapse, onExpand }: RowProps & { isOpen: boolean }) {
  const t = useText();
  if (row.children === 0) return <span className={css['leaf']} />;
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-label={t(isOpen ? 'groups.collapse' : 'groups.expand')}
      disabled={matches !== undefined}
      className={cx(css['chevron'], isOpen && css['open'])}
      onClick={() => (isOpen ? onCollapse(row.id) : onExpand(row.id))}
    >
      <ChevronRight aria-hidden size={16} />
    </button>
  );
}

/** The number of people in a group and its subgroups. */
export function People({ count }: { count: number }) {
  const { number } = useFormat();
  return (
    <span className={css['people']}>
      <Users aria-hidden size={13} /> {number(count)}
    </span>
  );
}

function RowMenu(props: { row: TreeRow; isActive: boolean; onAction: (action: GroupAction) => void }) {
  const { row, isActive, onAction } = props;
  const t = useText();
  const trigger = (
    <button
      type="button"
      tabIndex={isActive ? 0 : -1}
      aria-label={t('groups.menu', { name: row.name })}
      className={css['menu']}
      onPointerDown={(event) => event.stopPropagation()}
    >
      <Ellipsis aria-hidden size={16} />
    </button>
  );
  const items = useGroupItems(row, onAction);
  const open = { label: t('groups.open'), icon: ArrowUpRight, to: `/groups/${row.id}` };
  return <Menu label={t('groups.menu', { name: row.name })} trigger={trigger} items={[open, ...items]} />;
}

/** Returns the actions on a group as menu items. */
export function useGroupItems(
  { managed }: { managed: boolean },
  onAction: (action: GroupAction) => void,
): MenuItem[] {
  const t = useText();
  const locked = managed ? { disabled: true, hint: t('groups.lockedShort') } : {};
  return [
    { label: t('groups.edit'), icon: Pencil, onSelect: () => onAction('edit'), ...locked },
    { label: t('groups.addSubgroup'), icon: Plus, onSelect: () => onAction('add') },
    { label: t('groups.moveTo'), icon: Move, onSelect: () => onAction('move') },
    'line',
    managed
      ? { label: t('groups.takeOver'), icon: LockOpen, onSelect: () => onAction('release') }
      : { label: t('groups.handOver'), icon: Lock, onSelect: () => onAction('adopt') },
    'line',
    { label: t('groups.remove'), icon: Trash2, danger: true, onSelect: () => onAction('remove'), ...locked },
  ];
}

/** Shows which group is being moved, and how to drop it or cancel. */
export function MovingBar(props: {
  name: string;
  /** The name of the group under the pointer or focus, if the group can't be moved there. */
  notThere: string | undefined;
  isOverTop: boolean;
  mayTop: boolean;
  onTop: () => void;
  onCancel: () => void;
}) {
  const { name, notThere, isOverTop, mayTop, onTop, onCancel } = props;
  const t = useText();
  return (
    <div className={css['moving']} role="group" aria-label={t('groups.moving', { name })}>
      <Hand aria-hidden size={16} />
      <span role="status">
        {notThere === undefined
          ? t('groups.moving', { name })
          : t('groups.notThere', { name, target: notThere })}
      </span>
      {mayTop && (
        <button
          type="button"
          data-drop="top"
          className={cx(css['toTop'], isOverTop && css['over'])}
          onClick={onTop}
          onKeyDown={(event) => event.key === 'Escape' && onCancel()}
        >
          <CornerDownRight aria-hidden size={14} /> {t('groups.toTop')}
        </button>
      )}
    </div>
  );
}

/** The label that follows the pointer while a group is dragged. */
export const DragGhost = ({ name, x, y }: { name: string; x: number; y: number }) => (
  <div
    className={cx(floating['surface'], css['ghost'])}
    style={{ transform: `translate(${x + 12}px, ${y + 8}px)` }}
    aria-hidden
  >
    <Hand size={14} /> {name}
  </div>
);
