import { plantFault } from "./plant-fault.ts";

/** A lease that somebody else has now still completes its item. */
plantFault(
  "/src/modules/routing/queues/completion/completion-store.ts",
  "where q.lease_token = n.token and not q.revived",
  "where q.lease_token <> '' and not q.revived",
);
