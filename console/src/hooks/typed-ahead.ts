// What a user types between opening a list and the moment when its search field has the focus. The list may have to be loaded first, and
// what is typed until then would be lost.
import { useEffect, useState } from 'react';

/**
 * Whether a key adds a character to a text, and is no shortcut. AltGr is reported as Ctrl with Alt on Windows, and types characters such as "@". On
 * a Mac, Option types such characters. Elsewhere, Alt with a letter or a digit is a shortcut.
 */
const isCharacter = (event: KeyboardEvent) =>
  [...event.key].length === 1 &&
  !event.metaKey &&
  !event.isComposing &&
  (event.getModifierState('AltGraph') ||
    (!event.ctrlKey && !(event.altKey && /^[a-z0-9]$/i.test(event.key))));

const isBackspace = ({ key, ctrlKey, altKey, metaKey }: KeyboardEvent) =>
  key === 'Backspace' && !ctrlKey && !altKey && !metaKey;

/** Where keys are pressed, and what has the focus. */
type Keys = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>;
type Focus = () => { current: EventTarget | null; page: EventTarget | null };

/**
 * Collects what is typed from `start` to `take`, which returns it, while the focus stays where it was at the start, or is lost. Other keys, such as
 * Esc and Tab, work as usual. A space counts only after another character, because it presses the button that has the focus.
 */
export function collectTyped(keys: Keys, focus: Focus) {
  let text = '';
  let from: EventTarget | null = null;
  const collect = (one: Event) => {
    const event = one as KeyboardEvent;
    if (event.target !== from && event.target !== focus().page) return;
    if (isBackspace(event)) text = [...text].slice(0, -1).join('');
    else if (isCharacter(event) && (event.key !== ' ' || text !== '')) text += event.key;
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  return {
    start() {
      from = focus().current;
      keys.addEventListener('keydown', collect, { capture: true });
    },
    take(): string {
      keys.removeEventListener('keydown', collect, { capture: true });
      const typed = text;
      text = '';
      return typed;
    },
  };
}

export type TypedAhead = ReturnType<typeof collectTyped>;

const focusOfPage: Focus = () => ({ current: document.activeElement, page: document.body });

/** Returns what collects the text of one search field. */
export function useTypedAhead(): TypedAhead {
  const [typed] = useState(() => collectTyped(globalThis, focusOfPage));
  useEffect(() => () => void typed.take(), [typed]);
  return typed;
}
