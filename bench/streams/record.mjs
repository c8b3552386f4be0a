// The record that every participant appends: about 200 bytes of JSON, like an event of an agent that works on a task.

let created = 0;

/** A new record, and the number that a scanner finds in its text. */
export function nextRecord() {
  const number = ++created;
  return {
    number,
    record: {
      id: `rec-${String(number).padStart(12, "0")}`,
      kind: "tool_result",
      tool: "search_orders",
      text: "Order 4711 was shipped on Tuesday and arrives within three working days.",
      cost: { tokens: 412, ms: 87 },
    },
  };
}

const idLength = 16;

/** Finds the numbers of records in text that arrives in pieces, in whatever format surrounds them. */
export function createScanner(onNumber) {
  let rest = "";
  return (piece) => {
    const text = rest === "" ? piece : rest + piece;
    let from = 0;
    for (;;) {
      const at = text.indexOf("rec-", from);
      if (at < 0 || at + idLength > text.length) break;
      from = at + idLength;
      onNumber(Number(text.slice(at + 4, from)));
    }
    rest = text.slice(Math.max(from, text.length - idLength + 1));
  };
}
