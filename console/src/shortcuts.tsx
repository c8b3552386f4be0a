import { Dialog } from "./ui/dialog";

/** The keys that open the search, as they are called on this machine. */
export const searchKeys = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘K" : "Ctrl K";

const shortcuts: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["⌘K", "Ctrl K"], "Go to a page or a record, or do something: “pause sales”, “new pool”"],
  [["?"], "Show these shortcuts"],
  [["↑", "↓"], "Move between the rows of a table"],
  [["Enter"], "Open the row"],
  [["⌘ click", "Ctrl click"], "Open the row in another tab"],
  [["Tab"], "Start of a page: skip the menu"],
  [["Esc"], "Close what is open"],
];

/** What the keyboard does. */
export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Keyboard shortcuts">
      <dl class="dialog-body facts">
        {shortcuts.map(([keys, what]) => [
          <dt key={`${what} keys`}>
            {keys.map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>,
          <dd key={what}>{what}</dd>,
        ])}
      </dl>
    </Dialog>
  );
}

/** Whether somebody writes a text, in which a letter is a letter. */
export function isWriting({ target }: Event): boolean {
  return (target as Element).closest?.("input, select, textarea, [contenteditable]") !== null;
}
