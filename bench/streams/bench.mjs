// npm run bench -- streams [--seconds 5] [--rounds 3] [--only appends|batches|latency|replay] [--quick] [--without <participant>]
// Our data streams, other durable streams and the physical limit, side by side on one machine.
import { openStage } from "../participant-stage.mjs";
import { runSections } from "../section-runner.mjs";
import { readOptions } from "./options.mjs";
import { participants } from "./participants.mjs";
import { appends, printAppends } from "./sections/appends.mjs";
import { batches, printBatches } from "./sections/batches.mjs";
import { latency, printLatency } from "./sections/latency.mjs";
import { printReplay, replay } from "./sections/replay.mjs";

const processFile = new URL("./participant.mjs", import.meta.url);
const sections = {
  appends: [appends, printAppends],
  batches: [batches, printBatches],
  latency: [latency, printLatency],
  replay: [replay, printReplay],
};

export function bench() {
  return runSections(sections, readOptions(process.argv.slice(3), Object.keys(sections)), ({ without }) =>
    openStage({ participants, processFile, without }),
  );
}
