import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant } from "../../../../../test/harness/context.ts";
import { earlierDatabase } from "../../../../../test/harness/earlier-schema.ts";
import { openDatabase } from "../../../../platform/db/index.ts";
import { listApprovals } from "./approval-store.ts";

const tenantId = freshTenant();
const idOf = (nth: number) => String(nth).padStart(26, "0");
const openedAt = new Date("2026-01-02T03:04:05.678Z");
const dueAt = new Date("2026-01-04T03:04:05.678Z");

const document = {
  steps: [
    { id: "ask", approval: { by: ["role:operator"], timeout: "2d" } },
    {
      id: "each",
      map: {
        over: "=input",
        steps: [
          { id: "other", approval: { by: ["user:eve"] } },
          { id: "both", approval: { by: ["user:ann", "user:bob"], quorum: 2, comment: "required" } },
        ],
      },
    },
  ],
};

function approval(request: object, decisions: readonly object[] = []) {
  return { s: "approval", request, decisions, sinceMs: openedAt.getTime(), dueMs: dueAt.getTime() };
}

test("the upgrade that stores open approvals lists those that runs wait for already", async (t) => {
  const { url, upgrade } = await earlierDatabase(t, "0030");
  const decision = { by: "ann", approved: true, comment: "fine", at: openedAt.toISOString() };
  const active = {
    each: { s: "map", sinceMs: 0 },
    ask: approval({ title: "Refund?", details: { total: 5 } }),
    "both[3]": approval({ title: { text: 1 }, details: "x".repeat(32 * 1024) }, [decision]),
  };
  const states = [{ active }, { active: {} }, { active: { ask: approval({ title: "\u0000", details: null }) } }];
  const db = openDatabase(url, { maxConnections: 3, steadyConnections: 1 });
  try {
    await db.sql`
      insert into workflow_definition_versions (tenant_id, definition_id, version, document, digest, call_keys, call_versions,
        message, published_by, published_at)
      values (${tenantId}, ${idOf(1)}, 2, ${JSON.stringify(document)}::text::json, '', '{}', '{}', '', '', now())`;
    await db.sql`
      insert into workflow_runs (tenant_id, id, environment_id, definition_id, version, run_key, status, state, revision, shard,
        origin, parent_run_id, unread, created_at)
      select ${tenantId}, lpad((10 + nth)::text, 26, '0'), ${idOf(2)}, ${idOf(1)}, 2, 'order-' || nth, 'waiting', state::json,
        1, 0, '{"definition": "refund", "environment": "production"}', '', 0, now()
      from unnest(${states.map((state) => JSON.stringify(state))}::text[]) with ordinality as s(state, nth)`;
    await upgrade();

    const filter = { definitionId: "", environmentId: "", mode: "any" as const, decider: undefined };
    const { rows } = await listApprovals(db.sql, tenantId, filter, { fetch: 10, offset: 0, after: undefined });
    const common = {
      ...{ tenantId, runId: idOf(11), environmentId: idOf(2), definitionId: idOf(1), definitionKey: "refund" },
      ...{ runKey: "order-1", openedAt, dueAt, paused: false },
    };
    const listed = rows.map(({ id, ...rest }) => {
      assert.match(id, /^[0-9A-F]{26}$/);
      return rest;
    });
    assert.deepEqual(
      listed.sort((a, b) => a.stepKey.localeCompare(b.stepKey)),
      [
        {
          ...{ ...common, stepKey: "ask", title: "Refund?", detailsJson: '{"total":5}', approvers: ["role:operator"] },
          ...{ quorum: 1, commentRequired: false, decisions: [] },
        },
        {
          ...{
            ...common,
            stepKey: "both[3]",
            title: '{"text":1}',
            detailsJson: null,
            approvers: ["user:ann", "user:bob"],
          },
          ...{ quorum: 2, commentRequired: true, decisions: [decision] },
        },
      ],
    );
  } finally {
    await db.close();
  }
});
