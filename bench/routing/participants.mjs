// The participants. Each runs in its own process, on its own database, and handles one call at a time.
//
// A participant's file exports `open(settings)`, which returns an object of
//   accepts     lanes [{ name, form, callers, items, add(caller) }]: one call of `add` accepts `items` items durably
//   drains      lanes [{ name, form, drain({ target, limitMs }) }]: leases and completes; returns { done, tookMs }
//   admissions  lanes like those of `accepts`, with the `constraint` that each item passes; with their own fill, clear
//               and drain when leasing and completing with it can be measured too
//   decides({ recipients, rules })  lanes like those of `accepts` that decide and store nothing
//   fill(count), clear(), waiting(), close()
// of which it may omit unsupported parts. Lanes of one `form` are compared with each other. `open` throws an
// Unavailable when this machine or checkout lacks a requirement: the others are measured without it.

/** This participant cannot run here; the message says why. */
export class Unavailable extends Error {
  name = "Unavailable";
}

/** Each participant: its role in the comparison, its requirements, and its loader. */
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
  // Its default setting. Acknowledged work of the last second is lost when the machine crashes, so it is shown but not
  // used as a reference.
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
