/** One server-sent event. */
export interface ServerEvent {
  readonly id: string;
  /** The event's type, "message" by default. */
  readonly type: string;
  readonly data: string;
}

/** Reads server-sent events. Comments, which keep the connection alive, are skipped. */
export async function* readEvents(stream: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  let fields = emptyEvent();
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split(/\r\n|\n/);
    rest = lines.pop()!;
    for (const line of lines) {
      if (line === "") {
        if (fields.data.length > 0) yield { id: fields.id, type: fields.type, data: fields.data.join("\n") };
        fields = emptyEvent();
      } else {
        parseLine(fields, line);
      }
    }
  }
}

interface Fields {
  id: string;
  type: string;
  data: string[];
}

function emptyEvent(): Fields {
  return { id: "", type: "message", data: [] };
}

function parseLine(fields: Fields, line: string): void {
  const at = line.indexOf(":");
  const name = at < 0 ? line : line.slice(0, at);
  const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
  if (name === "id") fields.id = value;
  else if (name === "event") fields.type = value;
  else if (name === "data") fields.data.push(value);
}
