// The participants. Each runs in its own process, and only while it is measured. That process appends, follows and reads;
// servers are processes of their own, except where the name says otherwise.
//
// A participant's file exports `open(settings)`, which returns an object of
//   createStreams(count)  new streams
//   processes             the ids of further processes whose CPU time counts
//   counts()              how many records were made into messages, and sent, for subscribers; only ours counts them
//   close()
// A stream is an object of
//   append(caller, record)   resolves when the record is durable; callers are numbered from 0
//   appendMany(caller, records)  the same with many records in one call
//   fill(records)            appends many records; without it, they are appended one by one
//   follow(onText)           resolves when a new subscriber follows the stream; returns a function that ends it
//   replays                  by name, functions (onText) that read the whole stream once
// of which it may omit unsupported parts. `onText` takes what arrives, in pieces of any size. `open` throws an error named
// Unavailable when this machine lacks a requirement.

/** Each participant: its role in the comparison, its database, and its loader. */
export const participants = {
  "Switchyard over HTTP": {
    kind: "us",
    database: "switchyard_http",
    load: () => import("./ours/over-http.mjs"),
  },
  "Switchyard in process": {
    kind: "us",
    database: "switchyard_process",
    load: () => import("./ours/in-process.mjs"),
  },
  // Over HTTP, with an fsync of each append.
  "durable-streams": {
    kind: "peer",
    load: () => import("./peers/durable-streams.mjs"),
  },
  // Over a Unix socket, with an fsync of what arrived together.
  "Redis Streams": {
    kind: "peer",
    load: () => import("./peers/redis-streams.mjs"),
  },
  "raw inserts": {
    kind: "limit",
    database: "raw_inserts",
    load: () => import("./limits/raw-inserts.mjs"),
  },
};
