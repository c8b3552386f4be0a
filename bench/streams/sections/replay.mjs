// One reader that reads a whole stream from its start.
import { printTable, show } from "../../routing/report.mjs";
import { inRounds } from "../../workflows/rounds.mjs";
import { nameOf } from "../report.mjs";

export function replay(stage, { rounds, seconds, replayed }) {
  return inRounds({
    ...{ stage, rounds, title: "replay" },
    lanesOf: ({ replays }) => replays.map((form) => ({ form })),
    measure: (participant, { form }) => participant.call("replayFor", { replay: form, records: replayed, seconds }),
  });
}

export function printReplay(rows) {
  printTable(
    "Replay of a stream, one reader",
    [
      ["", nameOf],
      ["", (row) => row.form],
      ["records/s", (row) => show.whole(row.perSecond)],
      ["server us/record", (row) => show.ms(row.cpuUs)],
      ["spread", (row) => show.ratio(row.spread)],
    ],
    rows,
  );
}
