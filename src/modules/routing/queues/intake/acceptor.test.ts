import assert from "node:assert/strict";
import { test } from "node:test";
import { untilBlocked } from "../../../../../test/harness/blocked-statements.ts";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { AcceptRequest } from "./accept-request.ts";
import { insertAcceptedBatches } from "./accept-store.ts";
import { createAcceptor } from "./acceptor.ts";

const db = await testDatabase();
const poolId = ulid(Date.now());

/** A call that queues items. */
function requestOf(tenantId: TenantId, ids: readonly string[]): AcceptRequest {
  return {
    tenantId,
    nowMs: Date.now(),
    items: ids.map((id) => ({ id, poolId, admission: undefined, push: false })),
    claim: undefined,
    toBatch: () => ({
      rows: ids.map((id) => ({
        decision: {
          tenantId,
          id,
          poolId,
          type: "t",
          key: "",
          attributesJson: "{}",
          requirementsJson: "{}",
          payloadJson: "{}",
          priority: 0,
          outcome: "queued",
          recipientId: "",
          snapshotDigest: "00",
          seed: 0,
          evidenceJson: "{}",
        },
        priority: 0,
        item: {
          recipientId: "",
          delivery: "pull" as const,
          state: "ready" as const,
          ageingS: 0,
          dueAtMs: undefined,
          holdReason: "",
          expiresAtMs: Date.now() + 3_600_000,
          ownTtl: false,
          groups: { singleton: "", debounce: "", throttle: "", concurrency: "" },
          limitGroups: [],
        },
        events: [],
      })),
      record: undefined,
    }),
  };
}

test("a call with one item does not wait for the statement of a call with many items", async () => {
  const acceptor = createAcceptor({ db, constrained: {} as never, wake: () => {} });
  const ids = Array.from({ length: 500 }, () => ulid(Date.now()));
  const tenantId = freshTenant();
  let held: Promise<unknown> | undefined;
  await db.transaction(async (sql) => {
    // An insert of the same id waits until this transaction ends.
    await insertAcceptedBatches(sql, [requestOf(tenantId, [ids[499]!]).toBatch([])], 0);
    held = acceptor.accept(requestOf(tenantId, ids));
    held.catch(() => {});
    await untilBlocked(db.sql);
    assert.equal(await acceptor.accept(requestOf(freshTenant(), [ulid(Date.now())])), "accepted");
  });
  await assert.rejects(held!, "the id was taken");
});
