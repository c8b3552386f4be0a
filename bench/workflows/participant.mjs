// One participant's process: opens it, then handles the bench's calls one after another.
import { serveCalls } from "../participant-process.mjs";
import { runFor } from "./pacing.mjs";
import { participants } from "./participants.mjs";
import { residentMb } from "./processes.mjs";

const { name, settings } = JSON.parse(process.argv[2]);
let opened;

const laneOf = ({ section, steps }) => (section === "tasks" ? opened.tasks[steps] : opened.internal);
const measured = () => ({ processes: opened.processes ?? [], postmaster: settings.postmaster });

const calls = {
  async open() {
    const { open } = await participants[name].load();
    opened = await open(settings);
    return {
      hasInternal: opened.internal !== undefined,
      taskSteps: Object.keys(opened.tasks ?? {}).map(Number),
      hasSleepers: opened.sleepers !== undefined,
      extras: Object.keys(opened.extras ?? {}),
    };
  },
  runFor: ({ lane, ...pace }) => runFor(laneOf(lane), { ...pace, ...measured() }),
  /** Other calls of one participant. */
  extraFor: ({ extra, ...pace }) => runFor(opened.extras[extra], { ...pace, ...measured() }),
  async sleep({ count, sleepMs }) {
    const memory = () => residentMb([process.pid, ...(opened.processes ?? [])]);
    const before = memory();
    const startedAt = performance.now();
    await opened.sleepers.start({ count, sleepMs });
    const startedS = (performance.now() - startedAt) / 1000;
    const during = memory();
    const late = Float64Array.from(await opened.sleepers.lateness({ count, sleepMs })).sort();
    const at = (share) => late[Math.min(late.length - 1, Math.floor(late.length * share))];
    return {
      ...{ name: opened.sleepers.name, count: late.length, startedS, memoryMb: { before, during, after: memory() } },
      ...{ lateP50Ms: at(0.5), lateP99Ms: at(0.99), lateMaxMs: late.at(-1) },
    };
  },
};

serveCalls(calls, () => opened?.close());
