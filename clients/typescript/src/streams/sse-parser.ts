export interface ServerSentEvent {
  /** The last event id of the stream; empty before the first. */
  readonly id: string;
  /** The type: `message` if the event names none. */
  readonly type: string;
  readonly data: string;
}

/** Creates a parser of the event stream format. It accepts text in pieces of any size and returns the complete events. */
export function createSseParser(): (text: string) => ServerSentEvent[] {
  let rest = "";
  let id = "";
  let type = "";
  let data: string[] = [];

  function takeLine(line: string, events: ServerSentEvent[]): void {
    if (line === "") {
      if (data.length > 0) events.push({ id, type: type || "message", data: data.join("\n") });
      type = "";
      data = [];
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "event") type = value;
    else if (field === "id" && !value.includes("\0")) id = value;
  }

  return (text) => {
    rest += text;
    const events: ServerSentEvent[] = [];
    // A carriage return at the end may be the first half of a line break.
    const lines = /\r$/.test(rest) ? rest.slice(0, -1).split(/\r\n|\n|\r/) : rest.split(/\r\n|\n|\r/);
    const tail = lines.pop()!;
    rest = /\r$/.test(rest) ? `${tail}\r` : tail;
    for (const line of lines) takeLine(line, events);
    return events;
  };
}
