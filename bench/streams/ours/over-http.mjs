// Switchyard, over HTTP with a key and the whole chain.
import { createServer } from "node:net";
import { connections } from "../../routing/http-connection.mjs";
import { authorized, startService } from "../../routing/ours/service.mjs";
import { followEvents, readAll } from "../http-reader.mjs";
import { append, appendMany, createStreams } from "./api.mjs";

const callersMax = 1_000;
const pageMax = 1_000;

export async function open({ databaseUrl }) {
  const metricsPort = await freePort();
  const service = await startService({
    databaseUrl,
    settings: { "server.metrics_addr": `127.0.0.1:${metricsPort}` },
  });
  const callers = connections(callersMax, service.port, { headers: authorized });
  const streamOf = ({ path }) => ({
    append: (caller, record) => append(callers[caller], path, record),
    appendMany: (caller, records) => appendMany(callers[caller], path, records),
    follow: (onText) => followEvents(service.port, `${path}/subscribe`, authorized, onText),
    replays: {
      "pages of 1,000": async (onText, count) => {
        // Sequences have no gaps.
        for (let cursor = 0; cursor < count; cursor += pageMax) {
          await readAll(service.port, `${path}/records?cursor=${cursor}&limit=${pageMax}`, authorized, onText);
        }
      },
      "server-sent events": async (onText, count) => {
        const done = Promise.withResolvers();
        const last = new RegExp(`id: ${count}\n`);
        let tail = "";
        const end = await followEvents(service.port, `${path}/subscribe`, authorized, (text) => {
          onText(text);
          if (last.test(tail + text)) done.resolve();
          tail = text.slice(-32);
        });
        await done.promise;
        end();
      },
    },
  });
  return {
    processes: [service.pid],
    createStreams: async (count) => (await createStreams(callers[0], count)).map(streamOf),
    counts: () => readCounts(metricsPort),
    async close() {
      for (const each of callers) each.close();
      await service.stop();
    },
  };
}

/**
 * The messages that were made from records for subscribers, and how often they were sent. A message is encoded when it is
 * sent first; the encoding is kept with the message.
 */
async function readCounts(port) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const sum = (name) =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "gm"))].reduce(
      (all, [, value]) => all + Number(value),
      0,
    );
  return { made: sum("workflow_stream_fetched_records_total"), sent: sum("workflow_stream_sent_records_total") };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
