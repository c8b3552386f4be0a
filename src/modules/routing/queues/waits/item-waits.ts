import { type ItemKey, readEnded } from "./wait-store.ts";
import { createWaits, type WaitParts, type Waits } from "./waits.ts";

/** The callers of this node that wait for the end of items. */
export type ItemWaits = Waits<ItemKey>;

/** Creates this node's waits for the end of items. */
export function createItemWaits({ sql, ...parts }: WaitParts): ItemWaits {
  return createWaits<ItemKey>({
    ...parts,
    name: "item",
    keyOf: ({ tenantId, id }) => `${tenantId}:${id}`,
    find: (items) => readEnded(sql, items),
    tooMany: "Too many callers wait for items. Repeat the call later, or read the item without wait_s.",
  });
}
