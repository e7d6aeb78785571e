// The search field of a list: "/" focuses it, Esc clears it. The text is passed on when typing pauses.
import { Search, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { useText } from '../../text/text.tsx';
import { clearsSearch, focusesSearch } from './search-keys.ts';
import css from './SearchField.module.css';

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));

/** Focuses the field when "/" is pressed outside of fields and dialogs. */
function useSlash(focus: () => void, isOn: boolean) {
  useEffect(() => {
    if (!isOn) return undefined;
    const listen = (event: KeyboardEvent) => {
      const hasDialog = document.querySelector('[role="dialog"], [role="alertdialog"]') !== null;
      if (!focusesSearch(event, { isTyping: isTyping(event.target), hasDialog })) return;
      event.preventDefault();
      focus();
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  });
}

type SearchFieldProps = {
  label: string;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  /** How long typing must pause before `onChange`, in ms. */
  delay?: number;
  /** False: "/" does not focus this field. */
  slash?: boolean;
};

export function SearchField({
  label,
  value,
  onChange,
  placeholder,
  delay = 200,
  slash = true,
}: SearchFieldProps) {
  const t = useText();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const [given, setGiven] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useSlash(() => input.current?.focus(), slash);
  // Changes from outside, such as "Clear filters", apply. Text that is still being typed is not overwritten by its own echo.
  if (value !== given) {
    setGiven(value);
    if (value !== text.trim()) setText(value);
  }
  useEffect(() => () => clearTimeout(timer.current), []);

  function change(next: string, wait: number) {
    setText(next);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onChange(next.trim()), wait);
  }
  return (
    <div className={css['search']}>
      <Search aria-hidden size={16} strokeWidth={1.75} />
      <input
        ref={input}
        type="search"
        className={css['input']}
        aria-label={label}
        aria-keyshortcuts={slash ? '/' : undefined}
        placeholder={placeholder ?? label}
        value={text}
        onChange={({ target }) => change(target.value, delay)}
        onKeyDown={(event) => {
          if (!clearsSearch(event.key, text)) return;
          event.preventDefault();
          event.stopPropagation();
          change('', 0);
        }}
      />
      {text !== '' ? (
        <button
          type="button"
          className={css['clear']}
          aria-label={t('action.clear')}
          onClick={() => {
            change('', 0);
            input.current?.focus();
          }}
        >
          <X aria-hidden size={14} />
        </button>
      ) : (
        slash && (
          <kbd className={css['key']} aria-hidden>
            /
          </kbd>
        )
      )}
    </div>
  );
}
