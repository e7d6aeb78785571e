// A field to find one or several groups among thousands. This file has the closed state; the list and its code are loaded when the
// user is about to open it.
import { X } from 'lucide-react';
import { lazy, Suspense, startTransition, useState, useTransition } from 'react';
import { loadOnDemand } from '../../../hooks/load-on-demand.ts';
import { useTypedAhead } from '../../../hooks/typed-ahead.ts';
import { useText } from '../../../text/text.tsx';
import { useErrorText } from '../../faults.ts';
import { useToast } from '../../floating/Toast.tsx';
import { Field } from '../FieldFrame.tsx';
import type { GroupOption } from '@soundings/contract/people/find-groups.ts';
import css from './GroupCombobox.module.css';
import { type GroupComboboxProps, useGroupsChosen, useNoneText } from './group-options.ts';
import {
  FieldTriggerContent,
  fieldClass,
  FilterTriggerContent,
  filterClass,
  Placeholder,
} from '../TriggerContent.tsx';

const loadOpened = () => loadOnDemand(() => import('./GroupComboboxOpened.tsx'));
/** Preloads the list. Errors are ignored here and shown when the list is opened. */
const prepare = () => void loadOpened().catch(() => {});
const Opened = lazy(async () => ({ default: (await loadOpened()).GroupComboboxOpened }));

/** `control`: connects the button to the label of a field. */
type ControlProps = GroupComboboxProps & { control?: { id: string; className: string } };

export function GroupCombobox(props: GroupComboboxProps) {
  const { label, hint, error, optional, hideLabel, filter } = props;
  if (filter) return <Control {...props} />;
  return (
    <Field {...{ label, hint, error, optional, hideLabel }}>
      {(control) => <Control {...props} control={control} />}
    </Field>
  );
}

/** Loads the list, then shows it. The button keeps the focus until then, and what is typed goes to the list's search field. */
function useOpening() {
  const typedAhead = useTypedAhead();
  const toast = useToast();
  const errorText = useErrorText();
  const [isWanted, setIsWanted] = useState(false);
  const [isLoading, startLoading] = useTransition();
  const open = () => {
    typedAhead.start();
    startLoading(async () => {
      try {
        await loadOpened();
        startTransition(() => setIsWanted(true));
      } catch (error) {
        typedAhead.take();
        toast({ text: errorText(error), tone: 'bad' });
      }
    });
  };
  return { isWanted, isLoading, open, typedAhead };
}

function Control(props: ControlProps) {
  const groups = useGroupsChosen(
    props.multiple ? props.value : props.value === undefined ? [] : [props.value],
  );
  const none = useNoneText(props.allowNone);
  const { isWanted, isLoading, open, typedAhead } = useOpening();
  const chosen = props.multiple
    ? undefined
    : props.value === undefined
      ? props.allowNone && none
      : groups[0]?.name;
  const content = { props, chosen: chosen || undefined };
  return (
    <>
      <Suspense>
        {isWanted ? (
          <Opened
            {...props}
            content={<Content {...content} />}
            trigger={triggerOf(content)}
            typedAhead={typedAhead}
          />
        ) : (
          <button
            type="button"
            role="combobox"
            aria-haspopup="dialog"
            aria-expanded={false}
            aria-controls={undefined}
            aria-busy={isLoading || undefined}
            disabled={props.disabled}
            {...triggerOf(content)}
            onPointerEnter={prepare}
            onFocus={prepare}
            onClick={open}
            onKeyDown={(event) => {
              if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
              event.preventDefault();
              open();
            }}
          >
            <Content {...content} />
          </button>
        )}
      </Suspense>
      {props.multiple && <Chosen groups={groups} onChange={props.onChange} />}
    </>
  );
}

type ContentProps = { props: ControlProps; chosen: string | undefined };

/** Returns the properties of the button that opens the list. They are used here and by the list. */
function triggerOf({ props: { label, filter, control, name, placeholder }, chosen }: ContentProps) {
  return filter
    ? { className: filterClass, 'aria-label': `${String(label)}: ${chosen ?? placeholder ?? ''}` }
    : { ...control, name, className: fieldClass(control?.className) };
}

function Content({ props: { label, filter, placeholder }, chosen }: ContentProps) {
  const t = useText();
  const text = chosen ?? <Placeholder>{placeholder ?? t('group.choose')}</Placeholder>;
  return filter ? (
    <FilterTriggerContent label={label}>{text}</FilterTriggerContent>
  ) : (
    <FieldTriggerContent>{text}</FieldTriggerContent>
  );
}

/** The chosen groups, each with a button to remove it. */
function Chosen({ groups, onChange }: { groups: GroupOption[]; onChange: (value: number[]) => void }) {
  const t = useText();
  if (groups.length === 0) return null;
  return (
    <ul className={css['chips']}>
      {groups.map(({ id, name, path }) => (
        <li key={id} className={css['chip']} title={path}>
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
