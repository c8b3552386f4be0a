// A broadcast to inboxes, compared with raw batch inserts of the same rows into equal tables.
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

/** Inserts the broadcast's rows again, as fast as the database allows, into tables with the same indexes. */
async function insertRaw(sql) {
  const copies = [];
  for (const table of ["notification_deliveries", "notification_inbox"]) {
    await sql.unsafe(`create table raw_${table} (like ${table} including all)`);
    const columns = await sql`
      select column_name as name, format_type(atttypid, atttypmod) as type from information_schema.columns
      join pg_attribute on attrelid = ${table}::regclass and attname = column_name
      where table_name = ${table} order by ordinal_position`;
    const rows = await sql.unsafe(
      `select ${columns.map(({ name }) => `${name}::text`).join(", ")} from ${table} order by id`,
    );
    const types = columns.map(({ type }, i) => `c${i}::${type}`);
    const names = columns.map((_, i) => `c${i}`);
    const statement = `insert into raw_${table} select ${types} from unnest(${names.map((_, i) => `$${i + 1}::text[]`)}) as t(${names})`;
    const batches = [];
    for (let at = 0; at < rows.length; at += rowsAtOnce) {
      const some = rows.slice(at, at + rowsAtOnce);
      batches.push(columns.map(({ name }) => some.map((row) => row[name])));
    }
    copies.push({ table, statement, batches, count: rows.length });
  }
  await sql`checkpoint`;
  const startedAt = performance.now();
  for (let n = 0; n < copies[0].batches.length; n++) {
    await sql.begin((tx) =>
      copies.flatMap(({ statement, batches }) =>
        batches[n] ? [tx.unsafe(statement, batches[n], { prepare: true })] : [],
      ),
    );
  }
  const tookS = (performance.now() - startedAt) / 1000;
  for (const { table } of copies) await sql.unsafe(`drop table raw_${table}`);
  return copies[0].count / tookS;
}
