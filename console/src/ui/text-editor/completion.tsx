/** A text that can be written, and what it means. */
export interface Completion {
  readonly text: string;
  readonly detail: string;
}

interface Props {
  readonly id: string;
  readonly options: readonly Completion[];
  /** The chosen one. */
  readonly at: number;
  readonly choose: (option: Completion) => void;
  /** Where the text starts that is replaced, from 0. */
  readonly place: { readonly line: number; readonly column: number };
}

/** The texts to choose from, below the cursor. The focus stays in the text. */
export function CompletionList({ id, options, at, choose, place }: Props) {
  return (
    <div
      aria-label="Completions"
      class="completions"
      id={id}
      role="listbox"
      style={{ "--line": place.line + 1, "--column": place.column }}
    >
      {options.map((option, index) => (
        <button
          aria-selected={index === at}
          id={`${id}-${index}`}
          key={option.text}
          onPointerDown={(event) => {
            event.preventDefault();
            choose(option);
          }}
          ref={(element) => {
            if (index === at) element?.scrollIntoView({ block: "nearest" });
          }}
          role="option"
          tabIndex={-1}
          type="button"
        >
          <code>{option.text.trim()}</code> <span class="soft">{option.detail}</span>
        </button>
      ))}
    </div>
  );
}

/** Replaces the selection, so that it can be undone like everything that was typed. */
export function insert(area: HTMLTextAreaElement, text: string): void {
  area.focus();
  // The only call that keeps the history of changes. It is old, and every browser has it.
  document.execCommand("insertText", false, text);
}
