import { useState } from "preact/hooks";
import { CopyButton } from "./text";

const childrenStep = 100;
const openDepth = 2;

/** A value as a tree. Large lists are shown in parts, so that they cannot freeze the page. */
export function JsonView({ value, label = "JSON" }: { readonly value: unknown; readonly label?: string }) {
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: A region that scrolls must be reachable with the keyboard. */}
      <section aria-label={label} class="json" tabIndex={0}>
        <Value depth={0} name={undefined} value={value} />
      </section>
      <span class="copy">
        <CopyButton label="Copy" text={JSON.stringify(value, null, 2) ?? ""} />
      </span>
    </div>
  );
}

interface ValueProps {
  readonly name: string | undefined;
  readonly value: unknown;
  readonly depth: number;
}

function Value({ name, value, depth }: ValueProps) {
  const prefix = name === undefined ? null : <span class="key">{name}: </span>;
  if (typeof value !== "object" || value === null) {
    return (
      <div class="leaf">
        {prefix}
        <span class={typeof value === "string" ? "string" : "literal"}>{JSON.stringify(value) ?? "null"}</span>
      </div>
    );
  }
  return <Branch depth={depth} prefix={prefix} value={value} />;
}

function Branch({ prefix, value, depth }: { prefix: preact.ComponentChildren; value: object; depth: number }) {
  const entries = Object.entries(value);
  const [isOpen, setOpen] = useState(depth < openDepth && entries.length <= childrenStep);
  const [shown, setShown] = useState(childrenStep);
  const summary = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0) {
    return (
      <div class="leaf">
        {prefix}
        {Array.isArray(value) ? "[]" : "{}"}
      </div>
    );
  }
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)} open={isOpen}>
      <summary>
        {prefix}
        <span class="faint">{summary}</span>
      </summary>
      {isOpen && (
        <div class="children">
          {entries.slice(0, shown).map(([key, child]) => (
            <Value depth={depth + 1} key={key} name={key} value={child} />
          ))}
          {shown < entries.length && (
            <button class="button small" onClick={() => setShown(shown + childrenStep)} type="button">
              Show {Math.min(childrenStep, entries.length - shown)} more
            </button>
          )}
        </div>
      )}
    </details>
  );
}
