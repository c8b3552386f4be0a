import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../../../errors/index.ts";
import type { TenantId } from "../../../../../platform/access/index.ts";
import { createCatalogue } from "../catalogue.ts";
import { scopeQuery } from "../scoped-query.ts";

const labels = ["status", "origin"];
const metric = { name: "runs_total", type: "counter", help: "Runs.", labels, tenantLabel: "tenant_id" } as const;
const catalogue = createCatalogue([metric], false);

function repair(query: string): unknown {
  try {
    scopeQuery(query, "t" as TenantId, catalogue);
  } catch (error) {
    assert.ok(error instanceof Failure);
    return error.repairs?.get("query")?.();
  }
  return undefined;
}

test("mistyped metrics, functions and labels, and missing windows and quotes, are repaired", () => {
  const table = [
    ["run_total", "runs_total"],
    ["rate(runs_total)", "rate(runs_total[5m])"],
    ["sum(rate(runs_totl[5min])", "sum(rate(runs_total[5m]))"],
    ['runs_total{status == "failed"}', 'runs_total{status="failed"}'],
    ["runs_total{status: failed}", 'runs_total{status="failed"}'],
    ['runs_total{staus="failed"}', 'runs_total{status="failed"}'],
    ["sum(runs_total) by status", "sum(runs_total) by (status)"],
    ["incrase(runs_total[1h])", "increase(runs_total[1h])"],
  ];
  for (const [query, repaired] of table) assert.equal(repair(query!), repaired, query);
});

test("nothing is proposed where it is unknown what is meant", () => {
  for (const query of ["some_other_metric", "runs_total offset 5m", "1 + 1", "{"]) {
    assert.equal(repair(query), undefined, query);
  }
});
