// One participant's process: opens it, then answers the bench's calls one after another.
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
  // Pools of many recipients take a while to make, so they are made only when they are asked for.
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

// The bench ends a participant by hanging up, and a bench that was killed hangs up too.
process.once("disconnect", async () => {
  setTimeout(() => process.exit(1), 10_000).unref();
  await opened?.close();
  process.exit(0);
});
// An interrupt reaches every process of the group; the bench decides what it means.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});

// What the bench needs to know of a lane; its functions stay here.
function describe({ name, form, callers, items, constraint, recipients, rules, drain }) {
  return { name, form, callers, items, constraint, recipients, rules, drains: drain !== undefined };
}
