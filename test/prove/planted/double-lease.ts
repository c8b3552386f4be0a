import { plantFault } from "./plant-fault.ts";

/** One of 16 items is leased again while the first worker has it. */
plantFault(
  "/src/modules/routing/queues/leasing/lease-store.ts",
  "offerNumber === undefined ? sql`q.state = 'ready'`",
  "offerNumber === undefined ? sql`(q.state = 'ready' or q.state = 'leased' and q.attempt = 1 and right(q.id, 1) in ('0', 'G'))`",
);
