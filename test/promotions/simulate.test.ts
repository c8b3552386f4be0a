import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { readRows } from "../harness/rows.ts";
import type { TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import {
  freshName,
  inEachProtocol,
  newTenant,
  type ResponseData,
  type TenantFixture,
} from "../routing/tenant-fixture.ts";
import {
  base,
  createCandidate,
  type Person,
  runToStoppedCanary,
  startGovernedNode,
  step,
} from "./promotion-fixture.ts";

let service: TestService;
let tenant: TenantFixture;
let approver: Person;
let sql: TestSql;
before(async () => {
  const node = await startGovernedNode();
  ({ service, tenant } = node);
  approver = await node.person("ada", ["promotion_approver"]);
  sql = connect(service.databaseUrl, 1);
});
after(() => sql.end({ timeout: 1 }));

const decisionOnly = { delivery: { mode: "MODE_DECISION_ONLY" } };
const itemsCount = 3000;

/** Items of three regions: half, three tenths and a fifth of them. */
const traffic = Array.from({ length: itemsCount }, (_, nth) => ({
  type: "task",
  key: `key-${nth}`,
  attributes: { region: nth % 10 < 5 ? "eu" : nth % 10 < 8 ? "us" : "asia" },
}));

/** Routes the traffic; returns how many items each recipient got. */
async function routeTraffic(poolId: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let from = 0; from < traffic.length; from += 250) {
    let open = traffic.slice(from, from + 250).map((item) => ({ ...item, pool_id: poolId }));
    // A busy node decides a part of a batch; the rest is sent again.
    await until(async () => {
      const results = await tenant.routeAll(open);
      open = open.filter((_, at) => {
        const { decision, ...result } = results[at];
        const { recipient_id } = decision ?? result;
        if (recipient_id !== "") counts.set(recipient_id, (counts.get(recipient_id) ?? 0) + 1);
        return recipient_id === "";
      });
      return open.length === 0;
    });
  }
  return counts;
}

async function stage(poolId: string, version: object): Promise<number> {
  return (await tenant.ok("POST", `/api/pools/${poolId}/versions`, version)).data.version;
}

/** Takes a candidate for a pool through all steps, up to its promotion. */
async function promote(candidateId: string, poolId: string): Promise<void> {
  await runToStoppedCanary(tenant, candidateId, [{ id: poolId }]);
  const approved = await approver("POST", `${base}/${candidateId}/approve`, { note: "looks right" });
  assert.equal(approved.status, 200, approved.text);
  await step(tenant, candidateId, "promote", "promoted");
}

async function simulate(candidateId: string, body: object = {}): Promise<ResponseData> {
  const { data } = await tenant.ok("POST", `${base}/${candidateId}:simulate`, body);
  return data.targets[0];
}

/** Asserts that simulated shares are those of a count, within one per cent of all items. */
function assertShares(target: ResponseData, side: "before" | "after", counts: ReadonlyMap<string, number>): void {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const shown = new Map(target.recipients.map((each: ResponseData) => [each.recipient_id, each[side]]));
  for (const id of new Set([...shown.keys(), ...counts.keys()] as string[])) {
    const difference = Math.abs(Number(shown.get(id) ?? 0) / target.items - (counts.get(id) ?? 0) / total);
    assert.ok(
      difference <= 0.01,
      `${side} ${id}: ${shown.get(id)} of ${target.items}, really ${counts.get(id)} of ${total}`,
    );
  }
}

test("the simulated shares of a changed rule are those of the same traffic after its promotion", async () => {
  const pool = await tenant.pool({ strategy: "round_robin" });
  const [eu, us] = [await tenant.recipient(pool, decisionOnly), await tenant.recipient(pool, decisionOnly)];
  await tenant.recipient(pool, { ...decisionOnly, weight: 300 });
  const rule = await tenant.rule(
    pool,
    { type: "route", recipient_id: eu },
    { name: "europe", condition: 'item.attributes.region == "eu"', stop_on_match: true },
  );
  const was = await routeTraffic(pool);
  const version = await stage(pool, {
    rule_set: {
      rules: [
        {
          id: rule,
          name: "europe",
          condition: 'item.attributes.region == "us"',
          action: { type: "route", recipient_id: us },
        },
      ],
    },
  });
  const candidate = await createCandidate(tenant, [{ kind: "routing", ref: pool, version }]);
  const target = await simulate(candidate);
  assertShares(target, "before", was);
  await promote(candidate, pool);
  assertShares(target, "after", await routeTraffic(pool));
  // What was decided by rules is reproduced exactly, and so is what follows from the order.
  assert.ok(target.reproduced >= itemsCount / 2, `${target.reproduced}`);
  const [shown] = target.rules;
  assert.deepEqual([shown.name, shown.before, shown.after], ["europe", itemsCount / 2, (itemsCount * 3) / 10]);
  assert.deepEqual([target.causes[0].cause, target.examples.length], ["rule", 20]);
});

test("the simulated shares of a changed strategy are those of the same traffic after its promotion", async () => {
  const pool = await tenant.pool({ strategy: "weighted_random" });
  for (const weight of [50, 30, 20]) await tenant.recipient(pool, { ...decisionOnly, weight });
  const was = await routeTraffic(pool);
  const version = await stage(pool, { strategy: "sticky_hash" });
  const candidate = await createCandidate(tenant, [{ kind: "strategy", ref: pool, version }]);
  const target = await simulate(candidate);
  assertShares(target, "before", was);
  // Chance is replayed as well: the seed of a decision is recorded.
  assert.equal(target.reproduced, target.items);
  await promote(candidate, pool);
  assertShares(target, "after", await routeTraffic(pool));
  assert.deepEqual(target.causes, [{ cause: "strategy", items: target.changed }]);
});

test("a simulation changes nothing, and says the same in every protocol", async () => {
  const pool = await tenant.pool();
  await tenant.recipient(pool, { cost: 3 });
  await tenant.routeAll(Array.from({ length: 50 }, () => ({ pool_id: pool, type: "task" })));
  const version = await stage(pool, {
    rule_set: { rules: [{ name: "closed", action: { type: "reject", reason: "No." } }] },
  });
  const candidate = await createCandidate(tenant, [{ kind: "routing", ref: pool, version }]);
  const earlier = await readRows(sql);
  const outcomes = await inEachProtocol(service, tenant, "PromotionService/SimulateCandidate", {
    candidate_id: candidate,
  });
  const [rest, connect] = outcomes.map(({ data }) => data.targets[0]) as [ResponseData, ResponseData];
  assert.deepEqual(
    [rest.items, rest.changed, rest.outcomes],
    [50, 50, [{ before: "routed", after: "rejected", items: 50 }]],
  );
  assert.deepEqual([connect.items, connect.changed], [rest.items, rest.changed]);
  assert.deepEqual([rest.cost.before, rest.cost.after], [150, 0]);
  // Nobody has fetched any of the items, and nobody would have.
  assert.deepEqual([rest.waits.recorded.waiting, rest.waits.before.waiting, rest.waits.after.waiting], [50, 50, 0]);
  assert.deepEqual(await readRows(sql), earlier);
});

test("the preflight says in short what changes, and guardrails can limit it", async () => {
  const pool = await tenant.pool({ strategy: "priority" });
  await tenant.recipient(pool, { priority: 1, cost: 1 });
  const dear = await tenant.recipient(pool, { priority: 2, cost: 4 });
  await tenant.routeAll(
    Array.from({ length: 40 }, (_, nth) => ({ pool_id: pool, type: nth % 4 === 0 ? "hard" : "easy" })),
  );
  const rule = { name: "hard", condition: 'item.type == "hard"', action: { type: "route", recipient_id: dear } };
  const version = await stage(pool, { rule_set: { rules: [rule] } });
  const guardrails = [
    { metric: "simulated_changes", limit: 0.25 },
    { metric: "simulated_cost", limit: 1.5 },
    { metric: "simulated_refusals", limit: 0 },
  ];
  const artifacts = [{ kind: "routing", ref: pool, version }];
  const { id } = (await tenant.ok("POST", base, { artifacts, guardrails })).data;
  const { preflight } = await step(tenant, id, "preflight", "preflight_passed");
  const [simulated] = preflight.impacts.filter(({ code }: ResponseData) => code === "simulated");
  assert.match(simulated.message, /^The candidate changes 10 of the last 40 items \(rule 10\)\./);
  const { guardrail_report } = await step(tenant, id, "guardrails/evaluate", "guardrails_failed");
  assert.deepEqual(
    guardrail_report.scores.map(({ metric, verdict, value, baseline, keys }: ResponseData) => [
      ...[metric, verdict, value, baseline, keys],
    ]),
    [
      ["simulated_changes", "passed", 0.25, undefined, 40],
      ["simulated_cost", "failed", 1.75, 1, 40],
      ["simulated_refusals", "passed", 0, 0, 40],
    ],
  );
});

test("a simulated guardrail without recorded items is inconclusive", async () => {
  const pool = await tenant.pool();
  const version = await stage(pool, { strategy: "round_robin" });
  const guardrails = [{ metric: "simulated_wait_ms", limit: 1000 }];
  const artifacts = [{ kind: "routing", ref: pool, version }];
  const { id } = (await tenant.ok("POST", base, { artifacts, guardrails })).data;
  const { preflight } = await step(tenant, id, "preflight", "preflight_passed");
  assert.ok(!preflight.impacts.some(({ code }: ResponseData) => code === "simulated"));
  const { guardrail_report } = await step(tenant, id, "guardrails/evaluate", "guardrails_failed");
  assert.equal(guardrail_report.scores[0].verdict, "inconclusive");
});

test("recorded runs of a workflow are planned again up to their first difference", async () => {
  const key = `w-${freshName()}`;
  const definitions = "/api/workflow-definitions";
  const documentOf = (limit: number, more: readonly object[] = []) => ({
    ...{ dsl: "1", key, name: key, timeout: "1h" },
    steps: [
      { id: "order", wait_event: { event: "order.paid", timeout: "10m" } },
      {
        id: "size",
        branch: [
          {
            when: `=steps.order.payload.total > ${limit}`,
            steps: [{ id: "check", approval: { by: ["role:admin"], timeout: "10m" } }],
          },
          { else: [{ id: "small", transform: "fine" }] },
        ],
      },
      ...more,
    ],
  });
  await tenant.ok("POST", definitions, { document: documentOf(100) });
  await tenant.ok("POST", `${definitions}/${key}/publish`, {});
  const totals = [50, 150, 250];
  for (const total of totals) {
    const { run } = (await tenant.ok("POST", "/api/workflow-runs", { definition: key, run_key: `${total}`, input: {} }))
      .data;
    await tenant.ok("POST", `/api/workflow-runs/${run.id}/signal`, { event: "order.paid", payload: { total } });
    if (total > 100) await tenant.ok("POST", `/api/workflow-runs/${run.id}/approvals/check/decide`, { approved: true });
    await until(
      async () => (await tenant.ok("GET", `/api/workflow-runs/${run.id}`)).data,
      ({ status }) => status === "succeeded",
    );
  }
  const stageDocument = async (document: object) => {
    await tenant.ok("PATCH", `${definitions}/${key}/draft`, { document });
    return (await tenant.ok("POST", `${definitions}/${key}/publish`, { stage: true })).data.version.version;
  };
  const simulated = async (version: number) => {
    const id = await createCandidate(tenant, [{ kind: "workflow", ref: key, version }]);
    const earlier = await readRows(sql);
    const target = await simulate(id);
    assert.deepEqual(await readRows(sql), earlier);
    await tenant.ok("POST", `${base}/${id}/abort`, {});
    return target;
  };
  const looser = await simulated(await stageDocument(documentOf(200)));
  assert.deepEqual([looser.items, looser.changed, looser.reproduced], [3, 1, 3]);
  assert.deepEqual(looser.steps, [{ step: "size", change: "arm", items: 1 }]);
  const longer = await simulated(await stageDocument(documentOf(100, [{ id: "done", transform: "bye" }])));
  assert.deepEqual([longer.changed, longer.steps], [3, [{ step: "done", change: "added", items: 3 }]]);
});

test("a simulation is refused for an empty time range and hides candidates of others", async () => {
  const pool = await tenant.pool();
  const version = await stage(pool, { strategy: "round_robin" });
  const candidate = await createCandidate(tenant, [{ kind: "strategy", ref: pool, version }]);
  const at = new Date().toISOString();
  const refused = await tenant.refused("INVALID_ARGUMENT", "POST", `${base}/${candidate}:simulate`, {
    from: at,
    until: at,
  });
  assert.equal(refused.body.violations[0].field, "from");
  const target = await simulate(candidate);
  assert.deepEqual([target.items, target.changed, target.waits.after.items], [0, 0, 0]);
  const other = await newTenant(service);
  await other.refused("NOT_FOUND", "POST", `${base}/${candidate}:simulate`, {});
});
