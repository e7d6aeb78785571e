// A field to find one or several groups among thousands. This file has the closed state; the list and its code are loaded when the
// user is about to open it.
import { ChevronsUpDown, X } from 'lucide-react';
import { lazy, Suspense, startTransition, useMemo, useState, useTransition } from 'react';
import { useData } from '../../hooks/data.ts';
import { loadChunk } from '../../hooks/chunks.ts';
import { useText } from '../../text/text.tsx';
import { cx } from '../cx.ts';
import { useErrorText } from '../faults.ts';
import { Field, type FieldProps } from './FieldFrame.tsx';
import { type FoundGroup, groupsToFind } from './find-groups.ts';
import css from './GroupFinder.module.css';
import select from './Select.module.css';
import { useToast } from '../floating/Toast.tsx';

const loadOpened = () => loadChunk(() => import('./GroupFinderOpened.tsx'));
/** Preloads the list. Errors are ignored here and shown when the list is opened. */
const prepare = () => void loadOpened().catch(() => {});
const Opened = lazy(async () => ({ default: (await loadOpened()).GroupFinderOpened }));

type Shared = FieldProps & {
  /** The text of the option for no group, such as "Whole company", listed first. */
  allowNone?: boolean | string;
  /** Groups that can't be chosen, such as the subgroups of a group that is moved. */
  exclude?: (id: number) => boolean;
  placeholder?: string;
  /** Shows it as a toolbar filter: "Group Whole company ⌄". */
  filter?: boolean;
  name?: string;
  disabled?: boolean;
};
type One = { multiple?: false; value: number | undefined; onChange: (value: number | undefined) => void };
type Several = { multiple: true; value: readonly number[]; onChange: (value: number[]) => void };
/** `control`: connects it to the label of a field. */
export type FinderProps = Shared & (One | Several) & { control?: { id: string; className: string } };

export function GroupFinder(props: Shared & (One | Several)) {
  const { label, hint, error, optional, hideLabel, filter } = props;
  if (filter) return <Finder {...props} />;
  return (
    <Field {...{ label, hint, error, optional, hideLabel }}>
      {(control) => <Finder {...props} control={control} />}
    </Field>
  );
}

/** Returns the groups that the user may see; `itemOf` returns a placeholder until they have loaded. */
export function useGroups() {
  const { data, error } = useData('GET /groups/tree');
  const groups = useMemo(() => groupsToFind(data?.groups ?? []), [data]);
  const itemOf = (id: number): FoundGroup =>
    groups.find((group) => group.id === id) ?? { id, name: '…', people: 0, way: '' };
  return { groups, itemOf, isWaiting: !data && !error, error };
}

export function useNoneText(allowNone: Shared['allowNone']): string {
  const t = useText();
  return typeof allowNone === 'string' ? allowNone : t('group.none');
}

/** Loads the list, then shows it. The button keeps the focus until then. */
function useOpening() {
  const toast = useToast();
  const words = useErrorText();
  const [isWanted, setIsWanted] = useState(false);
  const [isLoading, startLoading] = useTransition();
  const open = () =>
    startLoading(async () => {
      try {
        await loadOpened();
        startTransition(() => setIsWanted(true));
      } catch (error) {
        toast({ text: words(error), tone: 'bad' });
      }
    });
  return { isWanted, isLoading, open };
}

function Finder(props: FinderProps) {
  const { itemOf } = useGroups();
  const none = useNoneText(props.allowNone);
  const { isWanted, isLoading, open } = useOpening();
  const chosen = props.multiple
    ? undefined
    : props.value === undefined
      ? props.allowNone && none
      : itemOf(props.value).name;
  const face = { props, chosen: chosen || undefined };
  return (
    <>
      <Suspense>
        {isWanted ? (
          <Opened {...props} face={<Face {...face} />} trigger={triggerOf(face)} />
        ) : (
          <button
            type="button"
            role="combobox"
            aria-haspopup="dialog"
            aria-expanded={false}
            aria-controls={undefined}
            aria-busy={isLoading || undefined}
            disabled={props.disabled}
            {...triggerOf(face)}
            onPointerEnter={prepare}
            onFocus={prepare}
            onClick={open}
            onKeyDown={(event) => {
              if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
              event.preventDefault();
              open();
            }}
          >
            <Face {...face} />
          </button>
        )}
      </Suspense>
      {props.multiple && <Chosen groups={props.value.map(itemOf)} onChange={props.onChange} />}
    </>
  );
}

type FaceProps = { props: FinderProps; chosen: string | undefined };

/** The properties of the button that opens it, used here and by the list. */
function triggerOf({ props: { label, filter, control, name, placeholder }, chosen }: FaceProps) {
  return filter
    ? { className: select['filter'], 'aria-label': `${String(label)}: ${chosen ?? placeholder ?? ''}` }
    : { ...control, name, className: cx(control?.className, select['trigger']) };
}

function Face({ props: { label, filter, placeholder }, chosen }: FaceProps) {
  const t = useText();
  const words = chosen ?? <span className={select['placeholder']}>{placeholder ?? t('group.choose')}</span>;
  return (
    <>
      {filter && <span className={select['name']}>{label}</span>}
      <span className={select[filter ? 'value' : 'chosen']}>{words}</span>
      <ChevronsUpDown aria-hidden size={14} strokeWidth={1.75} className={css['arrows']} />
    </>
  );
}

/** The chosen groups, each with a button to remove it. */
function Chosen({ groups, onChange }: { groups: FoundGroup[]; onChange: (value: number[]) => void }) {
  const t = useText();
  if (groups.length === 0) return null;
  return (
    <ul className={css['chips']}>
      {groups.map(({ id, name, way }) => (
        <li key={id} className={css['chip']} title={way}>
          <span className={css['chipName']}>{name}</span>
          <button
            type="button"
            aria-label={t('group.remove', { name })}
            onClick={() => onChange(groups.filter((group) => group.id !== id).map((group) => group.id))}
          >
            <X aria-hidden size={14} />
          </button>
        </li>
      ))}
    </ul>
  );
}
