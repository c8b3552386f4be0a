// A broadcast to inboxes, and the same rows inserted raw in batches into tables made alike.
import { until } from "./call.mjs";
import { fillTopic } from "./members.mjs";

const rowsAtOnce = 1000;

export async function measureBroadcast({ call, sql, members, residentMb }) {
  await fillTopic(call, sql, "everyone", members);
  const residentMbBefore = residentMb();
  let residentMbMax = residentMbBefore;
  const startedAt = performance.now();
  const { data } = await call("POST", "/api/v2/notifications/trigger", {
    workflow_key: "news",
    topic: "everyone",
    payload: { order: 7 },
  });
  await until(async () => {
    residentMbMax = Math.max(residentMbMax, residentMb());
    const broadcast = await call("GET", `/api/v2/notifications/broadcasts/${data.transaction_id}`);
    return broadcast.data.status === "completed";
  }, 100);
  const perSecond = members / ((performance.now() - startedAt) / 1000);
  const rawPerSecond = await insertRaw(sql);
  return { members, perSecond, rawPerSecond, toRawInserts: perSecond / rawPerSecond, residentMbBefore, residentMbMax };
}

/** Inserts what the broadcast has written once more, as fast as the database takes it, into tables with the same indexes. */
async function insertRaw(sql) {
  const tables = ["notification_deliveries", "notification_inbox"];
  for (const table of tables) {
    await sql.unsafe(`create table raw_${table} (like ${table} including all)`);
  }
  const rows = await Promise.all(tables.map((table) => sql`select to_jsonb(t) as row from ${sql(table)} t`));
  await sql`checkpoint`;
  const count = rows[0].length;
  const startedAt = performance.now();
  for (let at = 0; at < count; at += rowsAtOnce) {
    await sql.begin((tx) =>
      tables.map((table, i) => {
        const some = rows[i].slice(at, at + rowsAtOnce).map(({ row }) => row);
        return tx.unsafe(
          `insert into raw_${table} select * from jsonb_populate_recordset(null::raw_${table}, $1::text::jsonb)`,
          [JSON.stringify(some)],
        );
      }),
    );
  }
  const tookS = (performance.now() - startedAt) / 1000;
  for (const table of tables) await sql.unsafe(`drop table raw_${table}`);
  return count / tookS;
}
