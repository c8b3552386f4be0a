import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { PreviewAdmissionRequestSchema } from "../../../../../gen/service/api/admission_pb.ts";
import { failsWith, freshTenant, perform, testDatabase } from "../../../../../test/harness/context.ts";
import { readRows } from "../../../../../test/harness/rows.ts";
import type { AdmissionConfig } from "../../pools/index.ts";
import { admissionFixture, constraints } from "../testing/admission-fixture.ts";

const db = await testDatabase();
const fixture = admissionFixture(db);
const { preview, explain, handlers } = fixture;

describe("preview", () => {
  const kinds: [name: string, admission: AdmissionConfig][] = [
    ["none", {}],
    ["singleton", { singleton: constraints.singleton }],
    ["singleton that replaces", { singleton: { ...constraints.singleton, mode: "replace_pending" } }],
    ["debounce", { debounce: constraints.debounce }],
    ["throttle that delays", { throttle: constraints.throttle }],
    ["throttle that rejects", { throttle: { ...constraints.throttle, burst: 1, onLimit: "reject" } }],
    ["concurrency", { concurrency: constraints.concurrency }],
    ["all four", constraints],
  ];
  for (const [name, admission] of kinds) {
    test(`${name}: predicts the verdict of each item that follows`, async () => {
      const pool = await fixture.pool(admission);
      for (let n = 0; n < 4; n++) {
        const nowMs = Date.now();
        const said = await preview(pool, {}, nowMs);
        const { id, verdict } = await fixture.enqueue(pool, {}, nowMs);
        assert.equal(said.existingQueueItemId, verdict.existingItemId);
        assert.deepEqual(said.supersededQueueItemIds, verdict.supersedes);
        if (verdict.status === "admitted") {
          // The item is admitted, and leased immediately unless the preview names a constraint that holds it.
          assert.equal((await fixture.lease(pool, 9)).includes(id), said.status === "admitted");
          continue;
        }
        assert.equal(said.status, verdict.status);
        assert.equal(said.constraintKind, verdict.constraint ?? "");
        assert.deepEqual(said.notBefore && timestampDate(said.notBefore).getTime(), verdict.dueAtMs);
        assert.equal(said.retryAfterS, (verdict.retryAfterMs ?? 0) / 1000);
        const evaluated = verdict.perConstraint.length;
        assert.deepEqual(
          said.verdicts
            .slice(0, evaluated)
            .map(({ constraintKind, groupId, verdict: ruling, remaining }) => [
              constraintKind,
              groupId,
              ruling,
              remaining,
            ]),
          verdict.perConstraint.map(({ kind, groupId, ruling, remaining }) => [kind, groupId, ruling, remaining]),
        );
      }
    });
  }

  test("a thousand previews change no row, and the next item is admitted as predicted", async () => {
    const pool = await fixture.pool({
      ...constraints,
      debounce: undefined,
      throttle: { ...constraints.throttle, burst: 1 },
    });
    await fixture.enqueue(pool, { key: "other" });
    const before = await readRows(db.sql as never);
    const nowMs = Date.now();
    const said = [];
    for (let n = 0; n < 1000; n += 20) {
      said.push(...(await Promise.all(Array.from({ length: 20 }, () => preview(pool, { key: "mine" }, nowMs)))));
    }
    assert.deepEqual(await readRows(db.sql as never), before);
    assert.equal(said.length, 1000);
    for (const each of said) assert.equal(each.status, "admitted");
    assert.equal((await fixture.enqueue(pool, { key: "mine" }, nowMs)).verdict.status, "admitted");
    assert.equal((await preview(pool, { key: "mine" }, nowMs)).status, "deduplicated");
  });

  test("an item's own time applies when it is later than the hold, and until then the item takes no place", async () => {
    const pool = await fixture.pool({ debounce: constraints.debounce });
    const busy = await fixture.pool({ concurrency: constraints.concurrency });
    await fixture.enqueue(busy);
    await fixture.lease(busy);
    const atMs = Date.now() + 86_400_000;
    const later = async ({ tenantId, poolId }: typeof pool) => {
      const request = { poolId, item: { type: "t", notBefore: timestampFromMs(atMs) } };
      const answer = await perform(db, { tenantId }, handlers.previewAdmission, PreviewAdmissionRequestSchema, request);
      assert.equal(timestampDate(answer.preview!.notBefore!).getTime(), atMs);
      return answer.preview!;
    };
    assert.equal((await later(pool)).status, "debounced");
    const said = await later(busy);
    assert.deepEqual([said.status, said.verdicts.map(({ verdict }) => verdict)], ["admitted", ["not_asked"]]);
  });

  test("an item for a pool other than the path's is refused, and so is one whose key cannot be evaluated", async () => {
    const pool = await fixture.pool({ throttle: { ...constraints.throttle, key: "int(item.attributes.customer)" } });
    const request = { poolId: pool.poolId, item: { poolId: "another", type: "t" } };
    await assert.rejects(
      perform(db, pool, handlers.previewAdmission, PreviewAdmissionRequestSchema, request),
      failsWith("INVALID_ARGUMENT", /item\.pool_id/),
    );
    await assert.rejects(
      preview(pool, { attributes: { customer: "hidden-4711" } }),
      (error) => failsWith("INVALID_ARGUMENT", /throttle/)(error) && !String((error as Error).stack).includes("hidden"),
    );
  });
});

describe("explanation", () => {
  test("an item without constraints, or that passed all of them, is held by none", async () => {
    const free = await fixture.pool({});
    const { id } = await fixture.enqueue(free);
    const explanation = await explain(free, id);
    assert.deepEqual([explanation.status, explanation.constraintKind, explanation.verdicts], ["ready", "", []]);
    const pool = await fixture.pool({ ...constraints, debounce: undefined });
    const passed = await explain(pool, (await fixture.enqueue(pool)).id);
    assert.deepEqual(
      passed.verdicts.map(({ constraintKind, verdict }) => [constraintKind, verdict]),
      [
        ["singleton", "admit"],
        ["throttle", "admit"],
        ["concurrency", "admit"],
      ],
    );
  });

  test("held by a throttle: the time and the number of items ahead", async () => {
    const pool = await fixture.pool({ throttle: constraints.throttle, concurrency: constraints.concurrency });
    const items = [];
    for (let n = 0; n < 4; n++) items.push(await fixture.enqueue(pool));
    assert.deepEqual((await explain(pool, items[3]!.id)).constraintKind, "");
    const fromMs = Date.now();
    await fixture.lease(pool);
    const explanation = await explain(pool, items[3]!.id, fromMs);
    assert.equal(explanation.status, "ready");
    assert.equal(explanation.constraintKind, "throttle");
    assert.equal(explanation.groupId, items[3]!.refs[0]!.groupId);
    const notBeforeMs = timestampDate(explanation.notBefore!).getTime();
    assert.ok(notBeforeMs >= fromMs + 599_000 && notBeforeMs <= Date.now() + 601_000);
    assert.equal(explanation.retryAfterS, (notBeforeMs - fromMs) / 1000);
    assert.equal(explanation.ahead, 2);
    assert.deepEqual(
      explanation.verdicts.map(({ constraintKind, verdict, remaining }) => [constraintKind, verdict, remaining]),
      [
        ["throttle", "hold", 0],
        ["concurrency", "not_asked", undefined],
      ],
    );
  });

  test("waiting for a slot: no time, but the number of items ahead by rank", async () => {
    const pool = await fixture.pool({ concurrency: constraints.concurrency });
    const nowMs = Date.now();
    await fixture.enqueue(pool, {}, nowMs);
    await fixture.lease(pool);
    const items = [];
    for (let n = 1; n <= 3; n++) items.push(await fixture.enqueue(pool, {}, nowMs + n));
    await fixture.enqueue(pool, { key: "another group" }, nowMs);
    for (const [n, { id }] of items.entries()) {
      const explanation = await explain(pool, id, nowMs);
      assert.deepEqual([explanation.constraintKind, explanation.ahead], ["concurrency", n]);
      assert.deepEqual([explanation.notBefore, explanation.retryAfterS], [undefined, 0]);
      assert.deepEqual([explanation.verdicts[0]!.verdict, explanation.verdicts[0]!.remaining], ["hold", 0]);
    }
  });

  test("superseded in its debounce window: the survivor, which waits for the window's end", async () => {
    const pool = await fixture.pool({ debounce: constraints.debounce, throttle: constraints.throttle });
    const nowMs = Date.now();
    const first = await fixture.enqueue(pool, {}, nowMs);
    const last = await fixture.enqueue(pool, {}, nowMs + 1000);
    const superseded = await explain(pool, first.id, nowMs + 2000);
    assert.deepEqual(
      [superseded.status, superseded.survivorId, superseded.constraintKind],
      ["superseded", last.id, ""],
    );
    assert.deepEqual([superseded.verdicts, superseded.notBefore], [[], undefined]);
    const waiting = await explain(pool, last.id, nowMs + 2000);
    assert.deepEqual([waiting.status, waiting.constraintKind, waiting.retryAfterS], ["held", "debounce", 599]);
    assert.deepEqual(
      waiting.verdicts.map(({ verdict }) => verdict),
      ["debounce", "not_asked"],
    );
  });

  test("an item of another pool or tenant, or that does not exist, is not found", async () => {
    const pool = await fixture.pool({});
    const { id } = await fixture.enqueue(pool);
    const beside = await fixture.pool({}, { tenantId: pool.tenantId });
    const none = failsWith("NOT_FOUND", /^No such queue item\.$/);
    await assert.rejects(explain(beside, id), none);
    await assert.rejects(explain(pool, "nothing"), none);
    await assert.rejects(explain({ ...pool, tenantId: freshTenant() }, id), failsWith("NOT_FOUND", /pool/));
  });
});
