import type { Event } from "@client/gen/event";
import { useLayoutEffect, useRef } from "preact/hooks";
import { formatClock } from "../../ui/format";
import { Name } from "../../ui/name";
import { useWindow } from "../../ui/table/window";

const linePx = 28;
const dataCharsMax = 200;
const failure = /fail|dead_letter|reject|ejected|expired/;

interface Props {
  readonly rows: readonly Event[];
  readonly onOpen: (event: Event) => void;
}

/** Events line by line. Only the lines in view are rendered. New lines do not move the ones that somebody reads. */
export function EventLog({ rows, onOpen }: Props) {
  const scroller = useRef<HTMLElement>(null);
  const before = useRef(rows.length);
  const { first, last, refresh } = useWindow(scroller, rows.length, linePx);
  useLayoutEffect(() => {
    const element = scroller.current!;
    const added = rows.length - before.current;
    before.current = rows.length;
    if (element.scrollTop > linePx && added > 0) element.scrollTop += added * linePx;
    refresh();
  }, [rows, refresh]);
  return (
    <div class="table-card">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: A region that scrolls must be reachable with the keyboard. */}
      <section aria-label="Events, newest first" class="log" ref={scroller} tabIndex={0}>
        <div style={{ height: `${first * linePx}px` }} />
        {rows.slice(first, last).map((event) => (
          <button class="line" key={event.id} onClick={() => onOpen(event)} type="button">
            <span class="when">{formatClock(event.time)}</span>
            <span class="type" data-tone={failure.test(event.type) ? "bad" : undefined}>
              {event.type}
            </span>
            <span class="rest">
              <Name id={event.subject} plain /> <code>{JSON.stringify(event.data ?? {}).slice(0, dataCharsMax)}</code>
            </span>
          </button>
        ))}
        <div style={{ height: `${(rows.length - last) * linePx}px` }} />
      </section>
    </div>
  );
}
