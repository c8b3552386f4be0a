import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Button } from "./button";
import { messageOf } from "./format";
import { Notice } from "./text";
import { toast } from "./toast";

interface DialogProps {
  readonly title: string;
  readonly kind?: "modal" | "drawer";
  readonly wide?: boolean;
  readonly onClose: () => void;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

const fields = ".dialog-body :is(input, select, textarea)";

/** A modal dialog, in the middle or at the side. The browser keeps the focus in it and closes it with Escape. */
export function Dialog({ title, kind = "modal", wide, onClose, actions, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement as HTMLElement | null;
    dialog.showModal();
    // A form is opened to be filled in. A drawer is opened to be read.
    if (kind === "modal") dialog.querySelector<HTMLElement>(fields)?.focus();
    return () => {
      dialog.close();
      before?.focus?.();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: The browser closes the dialog with Escape.
    <dialog
      aria-labelledby={titleId}
      class={`${kind}${wide ? " wide" : ""}`}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
      ref={element}
    >
      <div class="dialog-head">
        <h2 id={titleId}>{title}</h2>
        {actions}
        <Button icon="close" label="Close" onClick={onClose} small tone="quiet" />
      </div>
      {children}
    </dialog>
  );
}

interface Question {
  readonly title: string;
  /** The effect, and whether it can be undone. */
  readonly consequence: ComponentChildren;
  readonly confirm: string;
  /** A word that must be typed first if the action cannot be undone. */
  readonly typed?: string;
  readonly act: () => Promise<unknown>;
  /** The message after it has happened; none if `act` shows its own. */
  readonly done?: string;
}

const question = signal<Question | undefined>(undefined);

/** Asks for confirmation before an action that is hard to undo. */
export function confirm(asked: Question): void {
  question.value = asked;
}

/** The open question, if any. */
export function Confirmation() {
  return question.value === undefined ? null : <ConfirmDialog {...question.value} />;
}

function ConfirmDialog({ title, consequence, confirm: label, typed, act, done }: Question) {
  const [text, setText] = useState("");
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const inputId = useId();
  const close = () => {
    question.value = undefined;
  };
  const run = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await act();
      close();
      if (done !== undefined) toast(done);
    } catch (failure) {
      setError(messageOf(failure));
      setBusy(false);
    }
  };
  return (
    <Dialog onClose={close} title={title}>
      <form onSubmit={run}>
        <div class="dialog-body">
          <div class="soft">{consequence}</div>
          {typed !== undefined && (
            <div class="field">
              <label for={inputId}>
                Type <strong>{typed}</strong> to continue
              </label>
              <input
                autocomplete="off"
                class="input"
                id={inputId}
                onInput={(event) => setText(event.currentTarget.value)}
                value={text}
              />
            </div>
          )}
          {error !== undefined && <Notice tone="bad">{error}</Notice>}
        </div>
        <div class="dialog-foot">
          <Button onClick={close}>Cancel</Button>
          <Button disabled={isBusy || (typed !== undefined && text !== typed)} tone="danger" type="submit">
            {label}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
