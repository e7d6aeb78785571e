// Where a list scrolls: what of it is in view is reckoned from that.
import { useLayoutEffect, useRef, useState } from 'react';

/** How far beneath the beginning of what scrolls an element starts. */
function startIn(scroller: HTMLElement, element: Element): number {
  const edge = scroller === document.scrollingElement ? 0 : scroller.getBoundingClientRect().top;
  return Math.round(element.getBoundingClientRect().top - edge + scroller.scrollTop);
}

/**
 * What holds the rows of a list, the element that scrolls around them, and how far beneath its beginning they start: measured
 * anew when either changes its size, or what stands above the rows (`data-above`) does.
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
