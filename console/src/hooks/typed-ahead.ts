// What a user types between opening a list and the moment when its search field has the focus. The list may have to be loaded first, and
// what is typed until then would be lost.
import { useEffect, useMemo } from 'react';

/** `target` of an event that the user types into. */
const isTextField = (target: EventTarget | null) =>
  typeof HTMLElement !== 'undefined' &&
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input, textarea, select'));

/** Whether a key adds a character to a text. AltGr is reported as Ctrl with Alt on Windows, and types characters such as "@". */
const isCharacter = (event: KeyboardEvent) =>
  [...event.key].length === 1 &&
  !event.metaKey &&
  (!event.ctrlKey || event.getModifierState('AltGraph')) &&
  !event.isComposing;

/**
 * Collects what is typed outside of text fields from `start` to `take`, which returns it. Other keys, such as Esc and Tab, work as usual. A
 * space counts only after another character, because it presses the button that has the focus. `target`: the window.
 */
export function collectTyped(target: Pick<EventTarget, 'addEventListener' | 'removeEventListener'>) {
  let text = '';
  const collect = (one: Event) => {
    const event = one as KeyboardEvent;
    if (isTextField(event.target)) return;
    if (event.key === 'Backspace') text = [...text].slice(0, -1).join('');
    else if (isCharacter(event) && (event.key !== ' ' || text !== '')) text += event.key;
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return {
    start() {
      target.addEventListener('keydown', collect, { capture: true });
    },
    take(): string {
      target.removeEventListener('keydown', collect, { capture: true });
      const typed = text;
      text = '';
      return typed;
    },
  };
}

export type TypedAhead = ReturnType<typeof collectTyped>;

/** Returns what collects the text of one search field. */
export function useTypedAhead(): TypedAhead {
  const typed = useMemo(() => collectTyped(globalThis), []);
  useEffect(() => () => void typed.take(), [typed]);
  return typed;
}
