const messageLengthMax = 500;

/** Shortens a message for a record. */
export function shortMessage(text: string): string {
  return (text.length > messageLengthMax ? `${text.slice(0, messageLengthMax - 1)}…` : text)
    .replace(/[\x00-\x1f\x7f]+/g, " ")
    .toWellFormed();
}
