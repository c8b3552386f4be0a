// One participant's process: opens it, then handles the bench's calls one after another.
import { serveCalls } from "../participant-process.mjs";
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

serveCalls(calls, () => opened?.close());

// The serialisable part of a lane; its functions stay in this process.
function describe({ name, form, callers, items, constraint, recipients, rules, drain }) {
  return { name, form, callers, items, constraint, recipients, rules, drains: drain !== undefined };
}
