// Who takes part. Each runs in a process of its own, on a database of its own, and is asked for one thing at a time.
//
// A participant's file exports `open(settings)`, which answers with an object of
//   accepts     lanes [{ name, form, callers, items, add(caller) }]: one call of `add` accepts `items` items durably
//   drains      lanes [{ name, form, drain({ target, limitMs }) }]: leases and completes; answers { done, tookMs }
//   admissions  lanes like those of `accepts`, with the `constraint` that each item passes; where leasing and completing
//               under it can be measured too, with their own fill, clear and drain
//   decides({ recipients, rules })  lanes like those of `accepts` that decide and store nothing
//   fill(count), clear(), waiting(), close()
// of which it may leave out what it has not got. Lanes of one `form` are compared with each other. `open` throws an
// Unavailable when this machine or this checkout has not got what it needs: the others are measured without it.

/** This participant cannot take part here; the message says why. */
export class Unavailable extends Error {
  name = "Unavailable";
}

/** Each participant: what it is to us, what it needs, and how its file is loaded. */
export const participants = {
  Switchyard: {
    kind: "us",
    database: "switchyard_bench",
    load: () => import("./ours/participant.mjs"),
  },
  "graphile-worker": {
    kind: "peer",
    database: "graphile_worker",
    load: () => import("./peers/graphile-worker.mjs"),
  },
  "pg-boss": {
    kind: "peer",
    database: "pg_boss",
    load: () => import("./peers/pg-boss.mjs"),
  },
  "BullMQ on PostgreSQL": {
    kind: "peer",
    database: "bullmq",
    settings: { store: "postgres" },
    load: () => import("./peers/bullmq.mjs"),
  },
  "BullMQ on Redis, fsync always": {
    kind: "peer",
    settings: { store: "redis", appendfsync: "always" },
    load: () => import("./peers/bullmq.mjs"),
  },
  // Its usual setting. Acknowledged work of the last second is lost with the machine, so it is shown beside the others
  // and is nobody's measure.
  "BullMQ on Redis, fsync every second": {
    kind: "peer",
    durable: false,
    settings: { store: "redis", appendfsync: "everysec" },
    load: () => import("./peers/bullmq.mjs"),
  },
  "raw SQL": {
    kind: "limit",
    database: "raw_sql",
    load: () => import("./limits/raw-sql.mjs"),
  },
  "bare node:http": {
    kind: "limit",
    durable: false,
    load: () => import("./limits/bare-http.mjs"),
  },
};
