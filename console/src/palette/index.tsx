import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { href, navigate } from "../core/router";
import { can } from "../core/session";
import { allPages } from "../registry";
import { Icon } from "../ui/icon";
import { findCommands } from "./commands";
import type { Found } from "./found";
import { createRecordSearch, type FoundRecords } from "./record-search";

const delayMs = 150;
/** A single letter is part of almost every name. */
const lengthMin = 2;
const nothing: SearchResult = { text: "", records: [], note: "" };

/** Records found for a text. */
interface SearchResult extends FoundRecords {
  readonly text: string;
}

interface Props {
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

/** Goes to anything, a page or a record by its name, key or id, and does things: "pause sales", "new pool". */
export function Palette({ onClose, onHelp }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [{ records, note, text: foundText }, setFound] = useState(nothing);
  const search = useMemo(createRecordSearch, []);
  /** The text for which Enter was pressed before its records were found. */
  const entered = useRef<string | undefined>(undefined);
  const [at, setAt] = useState(0);
  const wanted = text.trim();
  const isSearching = wanted.length >= lengthMin && wanted !== foundText;
  const listId = useId();
  // Before the next frame, so that keys which are pressed at once are not lost.
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const dialog = element.current!;
    dialog.showModal();
    return () => {
      dialog.close();
      before?.focus();
    };
  }, []);
  const go = (found: Found | undefined) => {
    if (found === undefined) return;
    onClose();
    if (found.run === undefined) navigate(found.href);
    else found.run();
  };
  useEffect(() => {
    if (wanted.length < lengthMin) {
      setFound(nothing);
      return;
    }
    let isOld = false;
    const timer = setTimeout(async () => {
      const found = await search(wanted, () => !isOld);
      if (isOld) return;
      setFound({ ...found, text: wanted });
      if (entered.current === wanted) go(found.records[0]);
      entered.current = undefined;
    }, delayMs);
    return () => {
      isOld = true;
      clearTimeout(timer);
    };
  }, [wanted, search]);

  const all = [...findPlaces(text), ...records];
  const onKey = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const typed = event.currentTarget.value;
    if (event.key === "ArrowDown") setAt(Math.min(all.length - 1, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (event.key === "Enter") enter(typed);
    else return;
    event.preventDefault();
  };
  /** The results of the last letters may not be shown yet. The first page is known; the first record is waited for. */
  const enter = (typed: string) => {
    const isShown = typed === text && (at > 0 || !isSearching);
    const first = isShown ? all[at] : findPlaces(typed)[0];
    if (first === undefined) entered.current = typed.trim();
    else go(first);
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
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKey}
        placeholder="Go to anything by name, key or id, or do something: “pause sales”, “new pool”"
        role="combobox"
        value={text}
      />
      <div aria-label="Results" class="options" id={listId} role="listbox">
        {all.map((found, index) => (
          <button
            aria-selected={index === at}
            id={`${listId}-${index}`}
            key={`${found.href} ${found.title}`}
            onClick={() => go(found)}
            role="option"
            tabIndex={-1}
            type="button"
          >
            <Icon name={found.icon} />
            <span class="found">{found.title}</span>
            <span class="kind">{found.kind}</span>
          </button>
        ))}
      </div>
      <p class="note" role="status">
        {isSearching ? "Searching…" : [all.length === 0 && "Nothing was found.", note].filter(Boolean).join(" ")}
      </p>
      <button class="button quiet small help" onClick={() => [onClose(), onHelp()]} type="button">
        Keyboard shortcuts <kbd>?</kbd>
      </button>
    </dialog>
  );
}

/** What is known without a request. */
function findPlaces(text: string): Found[] {
  return [...findPages(text), ...findCommands(text)];
}

function findPages(text: string): Found[] {
  const wanted = text.trim().toLowerCase();
  return allPages
    .filter(({ scope, title }) => can(scope) && title.toLowerCase().includes(wanted))
    .map(({ path, title, icon }) => ({ title, kind: "Page", icon, href: href(path) }));
}
