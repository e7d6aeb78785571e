// Finds the element in which a list scrolls, to compute which rows are in view.
import { useLayoutEffect, useRef, useState } from 'react';

/** Returns the distance from the top of the scrolling content to an element. */
function startIn(scroller: HTMLElement, element: Element): number {
  const edge = scroller === document.scrollingElement ? 0 : scroller.getBoundingClientRect().top;
  return Math.round(element.getBoundingClientRect().top - edge + scroller.scrollTop);
}

/**
 * Returns a ref for the rows of a list, the element that scrolls around them, and the distance of the rows from the top of that
 * element. Measures again when the rows, that element or an element above the rows (`data-above`) changes its size.
 */
export function useScroller<Body extends Element = HTMLDivElement>() {
  const body = useRef<Body>(null);
  const [scroller, setScroller] = useState<HTMLElement | null>(null);
  const [margin, setMargin] = useState(0);
  useLayoutEffect(() => {
    // The sheet, the body of a dialog, or else the whole page.
    const around =
      body.current?.closest<HTMLElement>('[data-scroller]') ?? (document.scrollingElement as HTMLElement);
    setScroller(around);
    const measure = () => body.current && setMargin(startIn(around, body.current));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(around);
    if (around.firstElementChild) observer.observe(around.firstElementChild);
    for (const above of around.querySelectorAll('[data-above]')) observer.observe(above);
    return () => observer.disconnect();
  }, []);
  return { body, scroller, margin };
}
