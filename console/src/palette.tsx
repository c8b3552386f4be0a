import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { href, navigate } from "./core/router";
import { can } from "./core/session";
import { type Found, findRecords } from "./palette-records";
import { allPages } from "./registry";
import { Icon } from "./ui/icon";

const delayMs = 150;

/** Goes to anything: a page, or a record by its name or id. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const element = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [records, setRecords] = useState<readonly Found[]>([]);
  const [at, setAt] = useState(0);
  const listId = useId();
  // Before the next frame, so that keys which are pressed at once are not lost.
  useLayoutEffect(() => element.current!.showModal(), []);
  useEffect(() => {
    setAt(0);
    const wanted = text.trim();
    if (wanted.length < 2) {
      setRecords([]);
      return;
    }
    let isOld = false;
    const timer = setTimeout(async () => {
      const found = await findRecords(wanted);
      if (!isOld) setRecords(found);
    }, delayMs);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [text]);

  const all = [...findPages(text), ...records];
  const go = (found: Found | undefined) => {
    if (found === undefined) return;
    onClose();
    navigate(found.href);
  };
  const onKey = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const typed = event.currentTarget.value;
    if (event.key === "ArrowDown") setAt(Math.min(all.length - 1, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
    // The results of the last letters may not be shown yet.
    else if (event.key === "Enter") go(typed === text ? all[at] : findPages(typed)[0]);
    else return;
    event.preventDefault();
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: The browser closes the dialog with Escape.
    <dialog
      aria-label="Search"
      class="palette"
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === element.current && onClose()}
      ref={element}
    >
      <input
        aria-activedescendant={all.length > 0 ? `${listId}-${at}` : undefined}
        aria-controls={listId}
        aria-expanded="true"
        aria-label="Search pages and records"
        autocomplete="off"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKey}
        placeholder="Go to a page, a pool, a run, a subscriber, or an id"
        role="combobox"
        value={text}
      />
      <div aria-label="Results" class="options" id={listId} role="listbox">
        {all.map((found, index) => (
          <button
            aria-selected={index === at}
            id={`${listId}-${index}`}
            key={found.href}
            onClick={() => go(found)}
            role="option"
            tabIndex={-1}
            type="button"
          >
            <Icon name={found.icon} />
            {found.title}
            <span class="kind">{found.kind}</span>
          </button>
        ))}
      </div>
      {all.length === 0 && <p class="nothing">Nothing was found.</p>}
    </dialog>
  );
}

function findPages(text: string): Found[] {
  const wanted = text.trim().toLowerCase();
  return allPages
    .filter(({ scope, title }) => can(scope) && title.toLowerCase().includes(wanted))
    .map(({ path, title, icon }) => ({ title, kind: "Page", icon, href: href(path) }));
}
