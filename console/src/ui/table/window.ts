import type { RefObject } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";

/** Rows that are rendered above and below the visible ones. */
const overscan = 8;

/** The range of rows of equal height that a scrolling element shows. */
export function useWindow(scroller: RefObject<HTMLElement | null>, count: number, rowPx: number) {
  const [range, setRange] = useState({ first: 0, last: Math.min(count, 40) });
  const refresh = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    const first = Math.max(0, Math.floor(element.scrollTop / rowPx) - overscan);
    const last = Math.min(count, Math.ceil((element.scrollTop + element.clientHeight) / rowPx) + overscan);
    setRange((before) => (before.first === first && before.last === last ? before : { first, last }));
  }, [scroller, count, rowPx]);
  useEffect(() => {
    const element = scroller.current!;
    const observer = new ResizeObserver(refresh);
    observer.observe(element);
    element.addEventListener("scroll", refresh, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", refresh);
    };
  }, [scroller, refresh]);
  return { first: Math.min(range.first, count), last: Math.min(range.last, count), refresh };
}
