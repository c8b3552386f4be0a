// The environment of a run: one embedded PostgreSQL, and a process for the participant that is being measured. Participants run
// only while they are measured, because engines that poll would disturb the others.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { startEmbedded } from "../src/platform/db/embedded/embedded.ts";
import { socketHost } from "../src/platform/db/embedded/socket-host.ts";
import { startParticipant } from "./participant-process.mjs";

/** Starts PostgreSQL. Participants are started by `measure`, each with `processFile`. */
export async function openStage({ participants, processFile, without }) {
  const unknown = without.find((name) => !(name in participants));
  if (unknown !== undefined) throw new Error(`--without must be one of ${Object.keys(participants).join("; ")}`);
  const folder = mkdtempSync(join(tmpdir(), "switchyard-bench-"));
  const database = await startEmbedded({ dataDir: folder, maxConnections: 300 });
  const sql = postgres(database.url, { host: socketHost(database.url), max: 1, onnotice: () => {} });
  const leftOut = without.map((name) => ({ name, why: "it was asked to be" }));
  const names = Object.keys(participants).filter((name) => !without.includes(name));
  const urls = new Map();
  let current;
  const [{ pid }] = await sql`select pg_backend_pid() as pid`;
  const postmaster = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);

  async function urlOf(name) {
    const { database: own } = participants[name];
    if (own !== undefined && !urls.has(name)) urls.set(name, await createDatabase(sql, database.url, own));
    return urls.get(name);
  }

  return {
    leftOut,
    /** The participants that have not been left out. */
    names: () => names.filter((name) => !leftOut.some((left) => left.name === name)),
    urlOf,
    /** Opens a participant, measures it and closes it. Returns undefined if it cannot run here. */
    async measure(name, measure) {
      const own = join(folder, participants[name].database ?? name.toLowerCase());
      mkdirSync(own, { recursive: true });
      const settings = { folder: own, databaseUrl: await urlOf(name), postmaster };
      const participant = { name, kind: participants[name].kind, ...startParticipant(processFile, name, settings) };
      current = participant;
      try {
        Object.assign(participant, await participant.call("open"));
        await sql`checkpoint`;
        return await measure(participant);
      } catch (error) {
        if (!error.unavailable) throw error;
        leftOut.push({ name, why: error.message });
        return undefined;
      } finally {
        await participant.end();
        current = undefined;
      }
    },
    postgresVersion: async () => (await sql`show server_version`)[0].server_version,
    async close() {
      await current?.end();
      await sql.end();
      await database.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function createDatabase(sql, url, name) {
  await sql`create database ${sql(name)}`;
  const named = new URL(url);
  named.pathname = `/${name}`;
  return named.href;
}
