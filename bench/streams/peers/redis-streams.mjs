// Redis Streams, with an append-only file that is synced before the response.
import net from "node:net";
import { Redis } from "ioredis";
import { startRedis } from "../../routing/redis.mjs";

const pageMax = 1_000;

export async function open({ folder }) {
  const server = await startRedis({ folder, appendfsync: "always" });
  // Commands of one event loop iteration travel together, which is the fastest way to append.
  const client = new Redis({ path: server.socket, maxRetriesPerRequest: null, enableAutoPipelining: true });
  const run = Date.now().toString(36);
  let created = 0;
  const newStream = () => {
    const key = `${run}-${created++}`;
    return {
      append: (_, record) => client.xadd(key, "*", "data", JSON.stringify(record)),
      follow: (onText) => follow(server.socket, key, onText),
      replays: {
        "pages of 1,000": async (onText) => {
          for (let from = "-", size = pageMax; size === pageMax; ) {
            const entries = await client.xrange(key, from, "+", "COUNT", pageMax);
            for (const [, [, text]] of entries) onText(text);
            size = entries.length;
            from = `(${entries.at(-1)?.[0]}`;
          }
        },
      },
    };
  };
  return {
    processes: [server.pid],
    createStreams: async (count) => Array.from({ length: count }, newStream),
    async close() {
      client.disconnect();
      await server.stop();
    },
  };
}

/** Follows a stream from its start on a raw socket, with one blocking read after another. */
function follow(path, key, onText) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ path });
    let received = "";
    const read = (after) => socket.write(`XREAD BLOCK 0 STREAMS ${key} ${after}\r\n`);
    socket.setEncoding("latin1");
    socket.on("connect", () => {
      read("0-0");
      resolve(() => socket.destroy());
    });
    socket.on("data", (text) => {
      onText(text);
      received += text;
      // Records end with a brace and the end of a bulk string.
      if (!received.endsWith("}\r\n")) return;
      const after = received.match(/\d{13}-\d+(?=\r\n)/g)?.at(-1);
      received = "";
      if (after === undefined) return reject(new Error(`Redis answered ${text.slice(0, 300)}`));
      read(after);
    });
    socket.on("error", reject);
  });
}
