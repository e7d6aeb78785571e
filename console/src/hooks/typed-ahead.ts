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

type Keys = Pick<EventTarget, 'addEventListener' | 'removeEventListener'>;

/**
 * Collects what is typed from `start` to `take`, which returns it, while the focus stays where it was at the start, or is lost: then an element around
 * it gets the focus, such as a dialog or the page. Other keys, such as Esc and Tab, work as usual. A space counts only after another character,
 * because it presses the button that has the focus. `focus`: the element that has the focus, and those around it.
 */
export function collectTyped(keys: Keys, focus: () => readonly EventTarget[]) {
  let text = '';
  let from: readonly (EventTarget | null)[] = [];
  const collect = (one: Event) => {
    const event = one as KeyboardEvent;
    if (!from.includes(event.target)) return;
    if (isBackspace(event)) text = [...text].slice(0, -1).join('');
    else if (isCharacter(event) && (event.key !== ' ' || text !== '')) text += event.key;
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  return {
    start() {
      from = focus();
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

function focusOfPage(): Element[] {
  const around: Element[] = [];
  for (let one = document.activeElement; one; one = one.parentElement) around.push(one);
  return around;
}

/** Returns what collects the text of one search field. */
export function useTypedAhead(): TypedAhead {
  const [typed] = useState(() => collectTyped(globalThis, focusOfPage));
  useEffect(() => () => void typed.take(), [typed]);
  return typed;
}
