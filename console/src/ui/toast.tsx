import { signal } from "@preact/signals";
import { messageOf } from "./format";
import type { Tone } from "./text";

interface Toast {
  readonly id: number;
  readonly tone: Tone;
  readonly text: string;
}

const toasts = signal<readonly Toast[]>([]);
const shownMs = 5_000;
let lastId = 0;

/** Shows a short message for a few seconds. */
export function toast(text: string, tone: Tone = "ok"): void {
  const id = ++lastId;
  toasts.value = [...toasts.peek(), { id, text, tone }];
  setTimeout(() => {
    toasts.value = toasts.peek().filter((each) => each.id !== id);
  }, shownMs);
}

/** Shows why something failed. */
export function toastError(error: unknown): void {
  toast(messageOf(error), "bad");
}

/** Waits for a call. Says that it worked, or why it failed, and reads the page again after success. */
export async function announce(call: Promise<unknown>, done: string, refresh = () => {}): Promise<void> {
  try {
    await call;
    toast(done);
    refresh();
  } catch (error) {
    toastError(error);
  }
}

/** The messages on the screen. */
export function Toasts() {
  return (
    <div aria-live="polite" class="toasts" role="status">
      {toasts.value.map(({ id, tone, text }) => (
        <div class="toast" data-tone={tone} key={id}>
          {text}
        </div>
      ))}
    </div>
  );
}
