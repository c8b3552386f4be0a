// durable-streams over HTTP: each append is written, synced, and committed to its metadata.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { connections } from "../../routing/http-connection.mjs";
import { followEvents, readAll } from "../http-reader.mjs";

const serverFile = new URL("./durable-streams-server.mjs", import.meta.url);
const callersMax = 1_000;
const filledAtOnce = 500;
const headers = { "content-type": "application/json" };

export async function open({ folder }) {
  const dataDir = join(folder, "streams");
  mkdirSync(dataDir, { recursive: true });
  const child = fork(serverFile, [dataDir], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exited = once(child, "exit");
  const [port] = await Promise.race([
    once(child, "message"),
    exited.then(() => Promise.reject(new Error("the server of durable-streams ended"))),
  ]);
  const callers = connections(callersMax, port, { headers });
  const run = Date.now().toString(36);
  let created = 0;

  async function createStream() {
    const path = `/v1/stream/bench/${run}-${created++}`;
    const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { method: "PUT", headers });
    if (status !== 201) throw new Error(`PUT ${path} answered ${status}`);
    return {
      append: (caller, record) => post(path, JSON.stringify(record), caller),
      // The elements of an array are separate records.
      appendMany: (caller, records) => post(path, JSON.stringify(records), caller),
      async fill(records) {
        for (let at = 0; at < records.length; at += filledAtOnce) {
          await post(path, JSON.stringify(records.slice(at, at + filledAtOnce)), 0);
        }
      },
      follow: (onText) => followEvents(port, `${path}?offset=now&live=sse`, {}, onText),
      replays: { "one response": (onText) => readAll(port, `${path}?offset=-1`, {}, onText) },
    };
  }

  async function post(path, text, caller) {
    const { status, body } = await callers[caller].send("POST", path, text);
    if (status >= 300) throw new Error(`POST ${path} answered ${status}: ${body}`);
  }

  return {
    processes: [child.pid],
    createStreams: (count) => Promise.all(Array.from({ length: count }, createStream)),
    async close() {
      for (const each of callers) each.close();
      child.disconnect();
      await exited;
    },
  };
}
