import { registerHooks } from "node:module";
import type Postgres from "postgres";

/** One mend: what stands in a file of the driver, and what is to stand there instead. */
type Mend = readonly [found: string, better: string];

/**
 * postgres.js 3.4.9 does not get over a lost connection: it writes to a socket that is gone, which ends the process;
 * a connection that was lost with something still to be sent never sends again; and a transaction goes on, outside of
 * any transaction, on the connection that takes its place. Known upstream for long (porsager/postgres #1066, #1154,
 * #1208). Until a release has it, its source is mended while it is loaded.
 */
const mends: Readonly<Record<string, readonly Mend[]>> = {
  "postgres/src/connection.js": [
    [
      "function execute(q) {",
      "function execute(q) {\n    if (socket === null)\n      return queryError(q, Errors.connection('CONNECTION_CLOSED', options)), true\n",
    ],
    [
      "function nextWrite(fn) {",
      "function nextWrite(fn) {\n    if (socket === null) return (chunk = nextWriteTimer = null, false)",
    ],
    ["clearImmediate(nextWriteTimer)\n    if (socket)", "forgetWrites()\n    if (socket)"],
    ["clearImmediate(nextWriteTimer)\n    socket.", "forgetWrites()\n    socket."],
    // A server that is busy with a statement does not see that we have left; the process need not wait for it.
    [
      "socket.readyState === 'open' && socket.end(b().X().end())",
      "socket.readyState === 'open' && (socket.end(b().X().end()), setTimeout(x => x.destroy(), 1000, socket).unref())",
    ],
    // What it rejects with, the first statement of the connection is told as well.
    ["return fetchArrayTypes()", "return fetchArrayTypes().catch(() => {})"],
    [
      "async function closed(hadError) {",
      "function forgetWrites() {\n    clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n  }\n\n  async function closed(hadError) {",
    ],
    [
      // A statement that was given to the connection between its last error and its end must not wait for the next one.
      "async function connect() {",
      "async function connect() {\n    while (sent.length) queryError(sent.shift(), Errors.connection('CONNECTION_CLOSED', options, socket))",
    ],
    [
      "!hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))",
      "if (query || sent.length) error(Errors.connection('CONNECTION_CLOSED', options, socket))\n    query = results = errorResponse = null\n    result = new Result()",
    ],
  ],
  // Functions that are written down as the value of a property are put among the old by V8 at once, and with them the
  // statement and all that it carries: the collector would then copy every one of them before it can forget it.
  "postgres/src/query.js": [
    [
      "    this.resolve = x => (this.active = false, resolve(x))\n    this.reject = x => (this.active = false, reject(x))\n\n    this.active",
      "    const settled = x => (this.active = false, resolve(x))\n    const failed = x => (this.active = false, reject(x))\n    this.resolve = settled\n    this.reject = failed\n\n    this.active",
    ],
  ],
  "postgres/src/index.js": [
    [", prepare = null\n", ", prepare = null\n      , lost = null\n"],
    ["connection.onclose = reject)", "connection.onclose = e => (lost = e, reject(e)))"],
    [
      "q.catch(e => uncaughtError || (uncaughtError = e))",
      "q.catch(e => uncaughtError || (uncaughtError = e))\n        if (lost) return q.reject(lost)",
    ],
  ],
};

/** The driver of PostgreSQL. Whatever talks to a database takes it from here. */
export const postgres: typeof Postgres = await load();

async function load(): Promise<typeof Postgres> {
  const mended = new Set<string>();
  const hooks = registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const [file, changes] = Object.entries(mends).find(([path]) => url.endsWith(path)) ?? [];
      if (file === undefined || changes === undefined) return loaded;
      mended.add(file);
      return { ...loaded, source: changes.reduce(mend, String(loaded.source)) };
    },
  });
  try {
    const driver = await import("postgres");
    const missed = Object.keys(mends).filter((file) => !mended.has(file));
    if (missed.length > 0) throw new Error(`${missed.join(", ")}: loaded by somebody else before it was mended.`);
    return driver.default;
  } finally {
    hooks.deregister();
  }
}

function mend(source: string, [found, better]: Mend): string {
  const parts = source.split(found);
  if (parts.length !== 2) throw new Error(`This is not the version of postgres.js that is mended here: ${found}`);
  return parts.join(better);
}
