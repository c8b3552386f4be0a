import assert from "node:assert/strict";
import { sized } from "../harness/run-size.ts";

/** Long runs write for minutes while a stream is open. */
const streamMsMax = sized(60_000, 1_800_000);

/** A server-sent event. */
interface SentEvent {
  readonly id: string;
  readonly event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape.
  readonly data: any;
}

/** An open stream of server-sent events. */
export interface EventSource {
  readonly headers: Headers;
  /** The next events, as many as requested. */
  take(count: number): Promise<SentEvent[]>;
  /** Waits until the raw text of the stream contains a text. */
  see(pattern: RegExp): Promise<string>;
  close(): void;
}

/** Opens a stream of server-sent events; with a body, by POST. */
export async function openEvents(url: string, headers: Record<string, string>, body?: object): Promise<EventSource> {
  const leave = new AbortController();
  // A stream without events would block a failing test forever.
  const signal = AbortSignal.any([leave.signal, AbortSignal.timeout(streamMsMax)]);
  const posted = body && { method: "POST", body: JSON.stringify(body) };
  const response = await fetch(url, { headers: { "content-type": "application/json", ...headers }, signal, ...posted });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let raw = "";
  let unread = "";
  const more = async () => {
    const { value, done } = await reader.read();
    assert.ok(!done, `the stream ended after ${raw}`);
    raw += value;
    unread += value;
  };
  return {
    headers: response.headers,
    close: () => leave.abort(),
    async see(pattern) {
      while (!pattern.test(raw)) await more();
      return raw;
    },
    async take(count) {
      const events: SentEvent[] = [];
      while (events.length < count) {
        const end = unread.indexOf("\n\n");
        if (end < 0) {
          await more();
          continue;
        }
        const block = unread.slice(0, end);
        unread = unread.slice(end + 2);
        if (!block.startsWith(":")) events.push(eventOf(block));
      }
      return events;
    },
  };
}

function eventOf(block: string): SentEvent {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
  return { id: field("id"), event: field("event"), data: JSON.parse(field("data")) };
}
