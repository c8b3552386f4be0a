// Many runs that wait for a timer: the memory that they take, and how late they wake.
import { printTable, show } from "../../routing/report.mjs";
import { printAims } from "../report.mjs";

export async function timers(stage, { sleepers, sleepSeconds }) {
  const rows = [];
  for (const name of stage.names()) {
    const row = await stage.measure(name, async (participant) => {
      if (!participant.hasSleepers) return undefined;
      process.stderr.write(`timers: ${name}, ${sleepers} runs\n`);
      return participant.call("sleep", { count: sleepers, sleepMs: sleepSeconds * 1000 });
    });
    if (row !== undefined) rows.push({ participant: name, ...row });
  }
  return rows;
}

export function printTimers(rows) {
  printTable(
    "Sleeping runs",
    [
      ["", (row) => row.participant],
      ["", (row) => row.name],
      ["runs", (row) => show.whole(row.count)],
      ["started in s", (row) => row.startedS.toFixed(1)],
      ["MB before", (row) => show.whole(row.memoryMb.before)],
      ["MB asleep", (row) => show.whole(row.memoryMb.during)],
      ["MB after", (row) => show.whole(row.memoryMb.after)],
      ["late p50 ms", (row) => show.ms(row.lateP50Ms)],
      ["late p99 ms", (row) => show.ms(row.lateP99Ms)],
      ["late max ms", (row) => show.ms(row.lateMaxMs)],
    ],
    rows,
  );
  const ours = rows.filter(({ participant }) => participant === "Switchyard over HTTP");
  printAims(
    ours.map((row) => ["timers, late p99", "< 1,000 ms", `${show.ms(row.lateP99Ms)} ms`, row.lateP99Ms < 1000]),
  );
}
