// The environment of a run: one PostgreSQL, and a process for each participant. All of it ends with the run.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { socketHost } from "../../src/platform/db/embedded/socket-host.ts";
import { startParticipant } from "../participant-process.mjs";
import { participants } from "./participants.mjs";

const processFile = new URL("./participant.mjs", import.meta.url);

/** Starts PostgreSQL and every selected participant that can run here. */
export async function openStage({ without, waitingAtFirst, nodes, databaseUrl: external }) {
  const unknown = without.find((name) => !(name in participants));
  if (unknown !== undefined) throw new Error(`--without must be one of ${Object.keys(participants).join("; ")}`);
  const folder = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  const database =
    external === undefined
      ? await startEmbedded({ dataDir: folder, maxConnections: 300 })
      : { url: external, stop: async () => {} };
  const sql = postgres(database.url, { host: socketHost(database.url), max: 1, onnotice: () => {} });
  const present = [];
  const leftOut = [];
  const stage = {
    present,
    leftOut,
    // An emptied table has no statistics. A plan made for it then is a sequential scan, which the connection keeps and
    // which gets slower with every row. In production, autovacuum prevents that; so every participant starts with some
    // queued items and analyzed tables.
    /** Prepares a participant as in production: `count` items are queued, and the planner has statistics. */
    async makeReady(participant, { count = waitingAtFirst, admission } = {}) {
      if (!participant.fills) return;
      await participant.call("clear", { admission });
      await stage.addWaiting(participant, { count, admission });
    },
    /** Adds queued items, then flushes pending writes so that they do not happen while measuring. */
    async addWaiting(participant, { count, admission }) {
      await participant.call("fill", { count, admission });
      if (participant.databaseUrl !== undefined) await vacuum(participant.databaseUrl);
      await sql`checkpoint`;
    },
    postgresVersion: async () => (await sql`show server_version`)[0].server_version,
    async close() {
      await Promise.all(present.map(({ end }) => end()));
      await sql.end();
      await database.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    for (const [i, [name, what]] of Object.entries(participants).entries()) {
      if (without.includes(name)) {
        leftOut.push({ name, why: "it was asked to be" });
        continue;
      }
      const own = join(folder, `participant-${i}`);
      mkdirSync(own);
      const databaseUrl = what.database && (await createDatabase(sql, database.url, what.database));
      const settings = { ...what.settings, folder: own, databaseUrl, ...(what.kind === "us" && { nodes }) };
      const participant = {
        name,
        kind: what.kind,
        durable: what.durable ?? true,
        databaseUrl,
        // graphile-worker reads this variable to omit one log line per job, as in its own performance test.
        ...startParticipant(processFile, name, settings, { NO_LOG_SUCCESS: "1" }),
      };
      present.push(participant);
      try {
        Object.assign(participant, await participant.call("open"));
      } catch (error) {
        if (!error.unavailable) throw error;
        present.pop();
        await participant.end();
        leftOut.push({ name, why: error.message });
      }
    }
    return stage;
  } catch (error) {
    await stage.close();
    throw error;
  }
}

async function vacuum(databaseUrl) {
  const sql = postgres(databaseUrl, { host: socketHost(databaseUrl), max: 1, onnotice: () => {} });
  await sql`vacuum analyze`;
  await sql.end();
}

async function createDatabase(sql, url, name) {
  await sql`drop database if exists ${sql(name)} with (force)`;
  await sql`create database ${sql(name)}`;
  const named = new URL(url);
  named.pathname = `/${name}`;
  return named.href;
}
