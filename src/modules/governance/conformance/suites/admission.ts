import type { CaseContext, SuiteSource } from "../sandbox/index.ts";
import { completeItem, createPool, leaseAll, leaseOne, routeItem, routeItems } from "./steps/pool-steps.ts";
import { createTwice } from "./steps/repeat-steps.ts";

const hourS = 3600;
const singleton = { key: "item.key" };
const debounce = { key: "item.key", period_s: hourS, max_delay_s: 2 * hourS };
/** Admits one item and a burst of one. */
const throttle = { key: "item.key", limit: 1, period_s: hourS, burst: 1, on_limit: "reject" };

async function preview(context: CaseContext, poolId: string): Promise<string> {
  const item = { type: "task", key: "k" };
  return (await context.data("POST", `/api/queues/${poolId}:preview-admission`, { item })).status;
}

/** Cases about which items queues accept, and what holds an item. */
export const admissionSuite: SuiteSource = {
  id: "admission",
  name: "Admission",
  description: "Which items queues accept, hold, merge and reject.",
  version: 2,
  defaults: { capabilities: ["queues"], dryRun: false },
  cases: {
    "admission.preview-equals-enqueue": {
      guarantee: "A preview says what routing then does.",
      async run(context) {
        for (const [kind, constraint] of Object.entries({ singleton, debounce, throttle })) {
          const poolId = await createPool(context, { admission: { [kind]: constraint } }, kind);
          for (const attempt of [1, 2, 3]) {
            const said = await preview(context, poolId);
            const { outcome } = await routeItem(context, poolId);
            const isEqual = outcome === (said === "admitted" ? "queued" : said);
            context.expect(`${kind}, item ${attempt}: the preview is right`, isEqual, true);
          }
        }
      },
    },
    "admission.preview-consumes-nothing": {
      guarantee: "Previews take no place and no token.",
      async run(context) {
        const poolId = await createPool(context, { admission: { singleton, throttle } });
        for (let n = 0; n < 5; n++) await preview(context, poolId);
        context.expect("outcome after five previews", (await routeItem(context, poolId)).outcome, "queued");
      },
    },
    "admission.singleton-skip": {
      guarantee: "While an item of a key is in progress, further items of the key are skipped.",
      async run(context) {
        const poolId = await createPool(context, { admission: { singleton } });
        const outcomes = await Promise.all([1, 2, 3, 4].map(() => routeItem(context, poolId)));
        const queued = outcomes.filter(({ outcome }) => outcome === "queued");
        context.expect("items that are queued", queued.length, 1);
        const skipped = outcomes.filter(({ outcome }) => outcome === "deduplicated");
        context.expect("items that are skipped", skipped.length, 3);
        await completeItem(context, await leaseOne(context, poolId));
        context.expect("outcome after the end of the first", (await routeItem(context, poolId)).outcome, "queued");
      },
    },
    "admission.debounce-survivor": {
      guarantee: "Of items that arrive in quick succession the last one proceeds, and the others name it.",
      async run(context) {
        const quick = { key: "item.key", period_s: 1, max_delay_s: 60 };
        const poolId = await createPool(context, { admission: { debounce: quick } });
        const ids = await routeItems(context, poolId, 3);
        const leased = await leaseOne(context, poolId);
        const survivor = ids.at(-1)!;
        context.expect("the last item proceeds", leased.queue_item_id === survivor, true);
        const replaced = await Promise.all(
          ids.slice(0, -1).map((id) => context.data("GET", `/api/queues/${poolId}/items/${id}/admission-explanation`)),
        );
        for (const [index, { status, survivor_id }] of replaced.entries()) {
          context.expect(`item ${index + 1}: state`, status, "superseded");
          context.expect(`item ${index + 1}: it names the survivor`, survivor_id === survivor, true);
        }
      },
    },
    "admission.throttle-gcra": {
      guarantee: "A throttle admits its limit and its burst, and not one item more.",
      async run(context) {
        const poolId = await createPool(context, { admission: { throttle } });
        const outcomes = await Promise.all([1, 2, 3, 4, 5].map(() => routeItem(context, poolId)));
        const count = (wanted: string) => outcomes.filter(({ outcome }) => outcome === wanted).length;
        context.expect("items that are admitted", count("queued"), 2);
        context.expect("items that are rejected", count("rejected"), 3);
      },
    },
    "admission.concurrency-never-exceeded": {
      guarantee: "No more items of a group are leased at once than its limit.",
      async run(context) {
        const limit = 2;
        const poolId = await createPool(context, { admission: { concurrency: { key: "item.key", limit } } });
        await routeItems(context, poolId, 6);
        const leased = await leaseAll(context, poolId, limit, 3);
        context.expect("items leased at once", leased.length, limit);
        await completeItem(context, leased[0]);
        const next = await leaseAll(context, poolId, 1);
        context.expect("items leased after one has ended", next.length, 1);
      },
    },
    "admission.repeated-route": {
      guarantee: "An item that is routed again with its idempotency key is the same item, and takes no second token.",
      async run(context) {
        const pool_id = await createPool(context, { admission: { throttle } });
        const item = { pool_id, type: "task", key: "k" };
        await createTwice(context, "/api/route", item, { type: "other" }, (data) => data?.queue_item_id);
        context.expect("outcome of the next item", (await routeItem(context, pool_id)).outcome, "queued");
        context.expect("outcome beyond the burst", (await routeItem(context, pool_id)).outcome, "rejected");
      },
    },
  },
};
