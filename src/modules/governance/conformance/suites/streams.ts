import { createHash } from "node:crypto";
import type { CaseContext, CaseSource, Json } from "../sandbox/index.ts";
import { readEventIds } from "./steps/event-steps.ts";
import { createTwice } from "./steps/repeat-steps.ts";
import { publish, startRun } from "./steps/workflow-steps.ts";

const sandbox = { capabilities: ["workflows", "workflow_streams"] };

/** Creates a stream of a run that waits, and returns its path. */
async function createStream(context: CaseContext, pins: object = {}): Promise<string> {
  const wait = { id: "done", wait_event: { event: "done", timeout: "10m" } };
  const { id } = await startRun(context, await publish(context, [wait]));
  const streams = `/api/workflow-streams/runs/${id}/streams`;
  await context.data("POST", streams, { name: "rows", pins });
  return `${streams}/rows`;
}

/** The payloads of records after a cursor, as text. */
async function read(context: CaseContext, path: string, cursor: number): Promise<string> {
  const { records } = await context.data("GET", `${path}/records?cursor=${cursor}`);
  return records.map(({ payload }: Json) => JSON.stringify(payload)).join();
}

/** Cases about data streams of runs. */
export const streamCases: Readonly<Record<string, CaseSource>> = {
  "runtime.stream-order": {
    guarantee: "A stream has every record once, in order, and a cursor continues exactly after its record.",
    ...sandbox,
    async run(context) {
      const path = await createStream(context);
      const record = { payload: 1 };
      await createTwice(context, `${path}/records`, record, { payload: 9 }, (data) => String(data?.sequence));
      await context.data("POST", `${path}/records:batch`, { records: [{ payload: 2 }, { payload: 3 }] });
      context.expect("all records", await read(context, path, 0), "1,2,3");
      context.expect("records after the first", await read(context, path, 1), "2,3");
      const beyond = await context.send("GET", `${path}/records?cursor=9`);
      context.expect("a cursor after the last record", beyond.code, "INVALID_ARGUMENT");
      await context.data("POST", `${path}/close`, {});
      const late = await context.send("POST", `${path}/records`, { body: record });
      context.expect("a record after the end", late.code, "STREAM_CLOSED");
    },
  },
  "runtime.stream-pins": {
    guarantee: "What a stream must not contain is removed before it is stored, and unread records have a ceiling.",
    ...sandbox,
    async run(context) {
      const redaction = [{ path: "/card", action: "drop" }];
      const path = await createStream(context, { redaction, ceilings: { unread_items: 1 }, on_unread_full: "reject" });
      const append = (payload: object) => context.send("POST", `${path}/records`, { body: { payload } });
      await append({ n: 1, card: "4242" });
      context.expect("the record", await read(context, path, 0), '{"n":1}');
      context.expect("a record beyond the ceiling", (await append({ n: 2 })).code, "STREAM_BACKPRESSURE");
      await context.data("POST", `${path}/consumers/reader/ack`, { sequence: 1 });
      context.expect("status after the acknowledgement", (await append({ n: 2 })).status, 200);
    },
  },
  "runtime.stream-resume": {
    guarantee: "Server-sent events continue after Last-Event-ID without a gap or a repeat, and announce the end.",
    ...sandbox,
    async run(context) {
      const path = await createStream(context);
      const records = [1, 2, 3].map((payload) => ({ payload }));
      await context.data("POST", `${path}/records:batch`, { records });
      await context.data("POST", `${path}/close`, {});
      const follow = async (headers: Record<string, string> = {}) =>
        (await context.send("GET", `${path}/subscribe`, { headers })).text;
      const all = await follow();
      context.expect("all records", readEventIds(all).join(), "1,2,3");
      context.expect("the end is announced", all.includes("event: end\n"), true);
      context.expect("records after the first", readEventIds(await follow({ "last-event-id": "1" })).join(), "2,3");
    },
  },
  "runtime.object-digest": {
    guarantee: "An object has the announced bytes, and its record appears with the commit.",
    ...sandbox,
    async run(context) {
      const path = await createStream(context);
      const bytes = "conformance";
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      const announced = { sha256, size_bytes: bytes.length, content_type: "text/plain" };
      const { id } = await context.data("POST", `${path}/objects`, announced);
      const object = `${path}/objects/${id}`;
      const upload = (body: string) =>
        context.send("PUT", object, { body, headers: { "content-type": "application/octet-stream" } });
      context.expect("other bytes", (await upload("CONFORMANCE")).code, "OBJECT_MISMATCH");
      context.expect("status of the right bytes", (await upload(bytes)).status, 200);
      context.expect("records before the commit", await read(context, path, 0), "");
      const { sequence } = (await context.data("POST", `${object}:commit`, {})) as Json;
      context.expect("sequence of the record", sequence, 1);
      const downloaded = await context.send("GET", object);
      context.expect("the download has the bytes", downloaded.text === bytes, true);
    },
  },
};
