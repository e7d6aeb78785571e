// Finding one group, or several, among thousands. Here is what is seen while it is closed; the list, and what it needs, is
// loaded when somebody is about to open it.
import { ChevronsUpDown, X } from 'lucide-react';
import { lazy, Suspense, startTransition, useMemo, useState, useTransition } from 'react';
import { useAnswer } from '../plumbing/answers.ts';
import { loadPart } from '../plumbing/parts.ts';
import { useText } from '../text/text.tsx';
import { cx } from './cx.ts';
import { useErrorWords } from './faults.ts';
import { Field, type FieldProps } from './FieldFrame.tsx';
import { type FoundGroup, groupsToFind } from './findGroups.ts';
import css from './GroupFinder.module.css';
import select from './Select.module.css';
import { useToast } from './Toast.tsx';

const loadOpened = () => loadPart(() => import('./GroupFinderOpened.tsx'));
/** Before it is asked for: should that fail, it is said then. */
const prepare = () => void loadOpened().catch(() => {});
const Opened = lazy(async () => ({ default: (await loadOpened()).GroupFinderOpened }));

type Shared = FieldProps & {
  /** Words for choosing none, such as "Whole company": it is then the first. */
  allowNone?: boolean | string;
  /** Groups that cannot be chosen, such as those beneath the one that is moved. */
  exclude?: (id: number) => boolean;
  placeholder?: string;
  /** As the filter of a toolbar: "Group Whole company ⌄". */
  filter?: boolean;
  name?: string;
  disabled?: boolean;
};
type One = { multiple?: false; value: number | undefined; onChange: (value: number | undefined) => void };
type Several = { multiple: true; value: readonly number[]; onChange: (value: number[]) => void };
/** `control`: what ties it to the label of a field. */
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

/** The groups that are open to whoever is signed in; `itemOf` stands in for one as long as they are not there. */
export function useGroups() {
  const { data, error } = useAnswer('GET /groups/tree');
  const groups = useMemo(() => groupsToFind(data?.groups ?? []), [data]);
  const itemOf = (id: number): FoundGroup =>
    groups.find((group) => group.id === id) ?? { id, name: '…', people: 0, way: '' };
  return { groups, itemOf, isWaiting: !data && !error, error };
}

export function useNoneWords(allowNone: Shared['allowNone']): string {
  const t = useText();
  return typeof allowNone === 'string' ? allowNone : t('group.none');
}

/** The list is loaded, then shown: the button keeps the focus until it is there. */
function useOpening() {
  const toast = useToast();
  const words = useErrorWords();
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
  const none = useNoneWords(props.allowNone);
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

/** What the button that opens it is given, be it the one here or that of the list. */
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

/** The groups that were chosen, each with a button that takes it out. */
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
