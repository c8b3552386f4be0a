import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetricsMerger, type MetricFamily } from "./merged-metrics.ts";

const family = (
  name: string,
  type: MetricFamily["type"],
  combine: MetricFamily["combine"],
  ...lines: string[]
): MetricFamily => ({
  ...{ name, type, combine },
  text: [`# HELP ${name} A metric.`, `# TYPE ${name} ${type}`, ...lines].join("\n"),
});
const linesOf = (text: string) => text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

test("counts of processes are added up, shared values are not, and values of a process name it", () => {
  const of = (calls: number) => [
    family("calls_total", "counter", "sum", `calls_total{code="OK"} ${calls}`),
    family("rows", "gauge", "max", `rows ${calls}`),
    family("heap", "gauge", "process", `heap ${calls}`, `heap{space="old"} 1`),
  ];
  const text = createMetricsMerger(0).render(
    new Map([
      [1, of(2)],
      [2, [...of(5), family("only_total", "counter", "sum", "only_total 1")]],
    ]),
  );
  assert.deepEqual(linesOf(text), [
    'calls_total{code="OK"} 7',
    "rows 5",
    'heap{process="1"} 2',
    'heap{process="1",space="old"} 1',
    'heap{process="2"} 5',
    'heap{process="2",space="old"} 1',
    "only_total 1",
  ]);
  assert.equal(text.match(/^# TYPE calls_total counter$/gm)?.length, 1);
});

test("what a process counted stays in the sums after its end, and its gauges do not", () => {
  const merger = createMetricsMerger(0);
  const of = (value: number) => [
    family("seconds", "histogram", "sum", `seconds_bucket{le="1"} ${value}`, `seconds_sum ${value / 2}`),
    family("open", "gauge", "sum", `open ${value}`),
  ];
  merger.retire(of(10));
  merger.retire(of(1));
  assert.deepEqual(linesOf(merger.render(new Map([[1, of(4)]]))), [
    'seconds_bucket{le="1"} 15',
    "seconds_sum 7.5",
    "open 4",
  ]);
});

test("the series of tenants stay bounded however many processes have named tenants, and lose no count", () => {
  const merger = createMetricsMerger(3);
  const of = (first: number) =>
    Array.from({ length: 3 }, (_, nth) => `runs_total{status="ended",tenant_id="t${first + nth}"} 1`);
  for (let process = 0; process < 40; process++)
    merger.retire([family("runs_total", "counter", "sum", ...of(3 * process), 'runs_total{tenant_id="other"} 5')]);
  const lines = linesOf(merger.render(new Map([[1, [family("runs_total", "counter", "sum", ...of(1000))]]])));
  assert.deepEqual(lines.sort(), [
    'runs_total{status="ended",tenant_id="other"} 120',
    'runs_total{status="ended",tenant_id="t0"} 1',
    'runs_total{status="ended",tenant_id="t1"} 1',
    'runs_total{status="ended",tenant_id="t2"} 1',
    'runs_total{tenant_id="other"} 200',
  ]);
});
