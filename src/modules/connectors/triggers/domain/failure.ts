import { storableText } from "../../../../platform/text/index.ts";

const messageLengthMax = 500;

/** Shortens a message for a record. */
export function shortMessage(text: string): string {
  return storableText(text.length > messageLengthMax ? `${text.slice(0, messageLengthMax - 1)}…` : text);
}
