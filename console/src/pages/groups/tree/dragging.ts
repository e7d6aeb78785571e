// Dragging a group by mouse or pen: it starts when the pointer has moved a little, scrolls at the edges, and ends over an element
// with data-drop. Touch scrolls the list. On touch screens, groups are moved with the menu.
import { type PointerEvent as ReactPointerEvent, useCallback, useEffect, useRef, useState } from 'react';
import { mayDrag, movedTo, type Point, pressed, scrollStep } from './drag-gesture.ts';

export type Drag = { id: number; x: number; y: number; over: string | undefined };

type Options = {
  isOn: boolean;
  scroller: HTMLElement | null;
  onStart: (id: number) => void;
  /** `over`: the value of data-drop of the element under the pointer. */
  onDrop: (id: number, over: string | undefined) => void;
  onCancel: () => void;
};

const dropTargetAt = (x: number, y: number) =>
  document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-drop]')?.dataset['drop'];

export function useDragging(options: Options) {
  const [drag, setDrag] = useState<Drag>();
  const current = useRef<{ stop: () => void } | undefined>(undefined);
  const latest = useRef(options);
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => () => current.current?.stop(), []);

  const begin = useCallback((event: ReactPointerEvent, id: number) => {
    if (!mayDrag(event) || !latest.current.isOn) return;
    const from = { x: event.clientX, y: event.clientY };
    current.current?.stop();
    current.current = follow(from, {
      scroller: latest.current.scroller,
      start: () => latest.current.onStart(id),
      moved: (x, y) => setDrag({ id, x, y, over: dropTargetAt(x, y) }),
      end: (x, y) => {
        setDrag(undefined);
        latest.current.onDrop(id, dropTargetAt(x, y));
      },
      cancel: () => {
        setDrag(undefined);
        latest.current.onCancel();
      },
    });
  }, []);
  return { drag, begin };
}

type Follower = {
  scroller: HTMLElement | null;
  start: () => void;
  moved: (x: number, y: number) => void;
  end: (x: number, y: number) => void;
  cancel: () => void;
};

/** Follows the pointer until it is released, Esc is pressed, or the browser cancels it. */
function follow(from: Point, { scroller, start, moved, end, cancel }: Follower) {
  let gesture = pressed(from);
  let frame = 0;
  const ending = new AbortController();
  const { signal } = ending;
  function stop() {
    ending.abort();
    cancelAnimationFrame(frame);
    // Ignores the click that follows a drag.
    if (gesture.isDrag) addEventListener('click', swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener('click', swallow, { capture: true }));
  }
  function scroll() {
    const top = scroller === document.scrollingElement ? 0 : (scroller?.getBoundingClientRect().top ?? 0);
    const bottom = top + (scroller?.clientHeight ?? innerHeight);
    const down = scrollStep(gesture, top, bottom);
    if (down !== 0 && scroller) {
      scroller.scrollTop += down;
      moved(gesture.at.x, gesture.at.y);
    }
    frame = requestAnimationFrame(scroll);
  }
  addEventListener(
    'pointermove',
    (event) => {
      const before = gesture;
      gesture = movedTo(before, { x: event.clientX, y: event.clientY });
      if (!gesture.isDrag) return;
      if (!before.isDrag) {
        start();
        frame = requestAnimationFrame(scroll);
      }
      moved(gesture.at.x, gesture.at.y);
    },
    { signal },
  );
  addEventListener(
    'pointerup',
    () => {
      stop();
      if (gesture.isDrag) end(gesture.at.x, gesture.at.y);
    },
    { signal },
  );
  const giveUp = () => {
    stop();
    if (gesture.isDrag) cancel();
  };
  addEventListener('pointercancel', giveUp, { signal });
  addEventListener('keydown', (event) => event.key === 'Escape' && giveUp(), { signal, capture: true });
  return { stop };
}

function swallow(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}
