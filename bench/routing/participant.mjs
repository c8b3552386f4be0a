// One participant's process: opens it, then handles the bench's calls one after another.
import { acceptCount, acceptFor } from "./pacing.mjs";
import { participants } from "./participants.mjs";

const { name, settings } = JSON.parse(process.argv[2]);
const lists = ["accepts", "drains", "admissions"];
let opened;

const calls = {
  async open() {
    const { open } = await participants[name].load();
    opened = await open(settings);
    const described = lists.map((list) => [list, (opened[list] ?? []).map(describe)]);
    return { ...Object.fromEntries(described), fills: opened.fill !== undefined };
  },
  acceptFor: ({ list, lane, ...pace }) => acceptFor(opened[list][lane], pace),
  acceptCount: ({ lane, count }) => acceptCount(opened.accepts[lane], count),
  drain: ({ list, lane, ...pace }) => opened[list][lane].drain(pace),
  fill: ({ count, admission }) => (opened.admissions?.[admission]?.fill ?? opened.fill)(count),
  clear: ({ admission }) => (opened.admissions?.[admission]?.clear ?? opened.clear)(),
  waiting: () => opened.waiting(),
  // Pools with many recipients are slow to create, so they are created on demand.
  async prepareDecides(shape) {
    opened.deciding = (await opened.decides?.(shape)) ?? [];
    return opened.deciding.map(describe);
  },
};

process.on("message", async ({ id, call, args }) => {
  const answer = await outcome(() => calls[call](args));
  if (process.connected) process.send({ id, ...answer });
});

async function outcome(work) {
  try {
    return { result: (await work()) ?? null };
  } catch (error) {
    return { failure: { unavailable: error.name === "Unavailable", message: error.stack } };
  }
}

// The bench ends a participant by closing the channel, which also happens when the bench is killed.
process.once("disconnect", async () => {
  setTimeout(() => process.exit(1), 10_000).unref();
  await opened?.close();
  process.exit(0);
});
// An interrupt reaches every process of the group; only the bench handles it.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});

// The serialisable part of a lane; its functions stay in this process.
function describe({ name, form, callers, items, constraint, recipients, rules, drain }) {
  return { name, form, callers, items, constraint, recipients, rules, drains: drain !== undefined };
}
