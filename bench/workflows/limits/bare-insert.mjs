// The physical limit: one row for each run through postgres.js, without an engine or a protocol.
import postgres from "postgres";
import { socketHost } from "../../../src/platform/db/embedded/socket-host.ts";
import { poolSize } from "../../routing/pg-settings.mjs";
import { nextInput } from "../input.mjs";

export async function open({ databaseUrl }) {
  const sql = postgres(databaseUrl, { host: socketHost(databaseUrl), max: poolSize, onnotice: () => {} });
  await sql`
    create table if not exists runs (id bigint generated always as identity primary key, status text not null,
      state json not null, created_at timestamptz not null default now())`;
  return {
    internal: {
      name: "insert, one row",
      ahead: 1,
      async begin() {
        await sql`insert into runs (status, state) values ('succeeded', ${sql.json(nextInput())})`;
        return {};
      },
    },
    close: () => sql.end({ timeout: 1 }),
  };
}
