// The participants. Each runs in its own process, on its own database, and only while it is measured.
//
// A participant's file exports `open(settings)`, which returns an object of
//   internal  a lane: runs of three steps that need nothing outside of the engine
//   tasks     lanes by the number of steps that workers execute
//   sleepers  { name, start({ count, sleepMs }), lateness() }: runs that wait for a timer
//   processes the ids of further processes whose CPU time counts
//   close()
// of which it may omit unsupported parts. A lane is { name, ahead, begin(caller) }. `begin` resolves when the start of a
// run is durable, with { ended }: a promise that resolves when the run has ended. `ahead` is the number of unfinished
// runs of one caller: engines that poll for work would be idle with one. `open` throws an Unavailable when this machine
// lacks a requirement.

/** This participant cannot run here; the message says why. */
export class Unavailable extends Error {
  name = "Unavailable";
}

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
  DBOS: {
    kind: "peer",
    database: "dbos",
    load: () => import("./peers/dbos.mjs"),
  },
  openworkflow: {
    kind: "peer",
    database: "openworkflow",
    load: () => import("./peers/openworkflow.mjs"),
  },
  "pg-workflows": {
    kind: "peer",
    database: "pg_workflows",
    load: () => import("./peers/pg-workflows.mjs"),
  },
  // Its own storage, with an fsync of its log, instead of PostgreSQL.
  Restate: {
    kind: "peer",
    load: () => import("./peers/restate.mjs"),
  },
  "bare insert": {
    kind: "limit",
    database: "bare_insert",
    load: () => import("./limits/bare-insert.mjs"),
  },
};
