// The cost of a run with few and with many finished runs in the tables.
import postgres from "postgres";
import { socketHost } from "../../../src/platform/db/embedded/socket-host.ts";
import { printTable, show } from "../../routing/report.mjs";
import { printAims } from "../report.mjs";

const name = "Switchyard over HTTP";
const callers = 16;
const lanes = [
  { form: "3 internal steps", call: "runFor", args: { lane: { section: "internal" } } },
  { form: "1 task", call: "runFor", args: { lane: { section: "tasks", steps: 1 } } },
  { form: "read a finished run", call: "extraFor", args: { extra: "readFinished" } },
];

export async function flat(stage, { rounds, seconds, warmupSeconds, finishedFew, finished }) {
  if (!stage.names().includes(name)) return [];
  const databaseUrl = await stage.urlOf(name);
  const rows = [];
  for (const count of [finishedFew, finished]) {
    await stage.measure(name, async (participant) => {
      process.stderr.write(`flat: adding finished runs, up to ${count}\n`);
      // One run that has ended is the model of the others.
      await participant.call("runFor", { ...lanes[0].args, callers: 1, seconds: 0.2, warmupSeconds: 0 });
      await addFinished(databaseUrl, count);
      for (const { form, call, args } of lanes) {
        const results = [];
        for (let round = 0; round < rounds; round++) {
          process.stderr.write(`flat, round ${round + 1} of ${rounds}: ${form}, ${count} finished\n`);
          results.push(await participant.call(call, { ...args, callers, seconds, warmupSeconds }));
        }
        const median = results.toSorted((a, b) => a.perSecond - b.perSecond)[results.length >> 1];
        rows.push({ form, finished: count, ...median });
      }
    });
  }
  return rows;
}

export function printFlat(rows) {
  const cpu = ({ cpuUs }) => cpuUs.service + cpuUs.database;
  printTable(
    "The cost of a run beside finished runs",
    [
      ["", (row) => row.form],
      ["finished runs", (row) => show.whole(row.finished)],
      ["per s", (row) => show.whole(row.perSecond)],
      ["p50 ms", (row) => show.ms(row.p50Ms)],
      ["p99 ms", (row) => show.ms(row.p99Ms)],
      ["service us", (row) => show.whole(row.cpuUs.service)],
      ["database us", (row) => show.whole(row.cpuUs.database)],
      ["errors", (row) => String(row.errors)],
    ],
    lanes.flatMap(({ form }) => rows.filter((row) => row.form === form)),
  );
  printAims(
    lanes.flatMap(({ form }) => {
      const [few, many] = rows.filter((row) => row.form === form);
      if (many === undefined) return [];
      const more = cpu(many) / cpu(few) - 1;
      return [[`${form}, CPU time with many finished runs`, "<= 20% more", show.percent(more), more <= 0.2]];
    }),
  );
}

/** Adds copies of a finished run with its history and its events, until there are `count` finished runs. */
async function addFinished(databaseUrl, count) {
  const sql = postgres(databaseUrl, { host: socketHost(databaseUrl), max: 1, onnotice: () => {} });
  const [{ present, first }] = await sql`
    select count(*)::int as present, min(id) as first from workflow_run_archive where id > '01'`;
  // Ids of digits only are valid, and older than all others.
  const copies = sql`
    generate_series(${present}::int, ${count}::int) n
      cross join lateral (select lpad(n::text, 26, '0') as copy_id) c`;
  await sql`
    insert into workflow_run_archive
    select a.tenant_id, copy_id, environment_id, definition_id, version, run_key, status, state, output, error, revision,
      origin, parent_run_id, created_at, ended_at
    from workflow_run_archive a cross join ${copies} where a.id = ${first}`;
  await sql`
    insert into workflow_history
    select h.tenant_id, copy_id, revision, at, entries from workflow_history h cross join ${copies} where h.run_id = ${first}`;
  await sql`vacuum analyze`;
  await sql`checkpoint`;
  await sql.end();
}
