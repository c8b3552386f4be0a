import { fail } from "../../../../errors/index.ts";
import type { Signals, Sql } from "../../../../platform/db/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import { type ItemKey, readEnded } from "./wait-store.ts";
import { createWaits, type WaitLimits, type Waits } from "./waits.ts";

/** The callers of this node that wait for the end of items. */
export type ItemWaits = Waits<ItemKey>;

interface Dependencies {
  readonly sql: Sql;
  readonly signals: Signals;
  readonly log: Pick<Log, "warn">;
  readonly limits?: WaitLimits;
}

/** Creates this node's waits for the end of items. */
export function createItemWaits({ sql, ...parts }: Dependencies): ItemWaits {
  return createWaits<ItemKey>({
    ...parts,
    name: "item",
    keyOf: ({ tenantId, id }) => `${tenantId}:${id}`,
    find: (items) => readEnded(sql, items),
    tooMany: () =>
      fail("RATE_LIMITED", {
        public: "Too many callers wait for items. Repeat the call later, or read the item without wait_s.",
        headers: { "retry-after": "1" },
      }),
  });
}
