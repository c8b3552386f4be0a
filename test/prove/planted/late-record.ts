import { plantFault } from "./plant-fault.ts";

const file = "/src/modules/routing/queues/intake/acceptor.ts";

/** A route call commits its items first, and its idempotency record a moment later. */
plantFault(
  file,
  "const refused = await insertAcceptedBatches(db.sql, batches, nextShard());",
  `
    const used = await readUsedKeys(db.sql, batches.flatMap(({ record }) => record ?? []));
    const refused = new Set(batches.flatMap(({ record }, at) => (record && used.has(keyName(record)) ? [at] : [])));
    const fresh = batches.filter((_, at) => !refused.has(at));
    if (fresh.length > 0) {
      await insertAcceptedBatches(db.sql, fresh.map((batch) => ({ ...batch, record: undefined })), nextShard());
      await new Promise((resolve) => setTimeout(resolve, 300));
      for (const { record } of fresh) await recordResponse(db.sql, record && { claim: record, record: () => record });
    }`,
);
plantFault(
  file,
  'import { admitted } from "../../admission/index.ts";',
  `import { admitted } from "../../admission/index.ts";
import { keyName, readUsedKeys, recordResponse } from "../../../../platform/idempotency/index.ts";`,
);
