import assert from "node:assert/strict";
import { globSync } from "node:fs";
import test, { before } from "node:test";
import { parse } from "yaml";
import { readOperations } from "../../src/definitions/index.ts";
import { catalogue } from "../../src/errors/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { type Document, deploy, readCompose, readDeploy } from "../harness/deployment.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { findPrometheus, type PrometheusServer, whyNoPrometheus } from "../harness/prometheus.ts";
import { readQuery } from "../harness/promql.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant } from "../routing/tenant-fixture.ts";

interface Query {
  readonly source: string;
  readonly expression: string;
  readonly legend: string;
}

const dashboards: Document[] = await Promise.all(
  globSync("grafana/dashboards/*.json", { cwd: deploy }).map(async (file) => JSON.parse(await readDeploy(file))),
);
const rules: Document[] = parse(await readDeploy("prometheus/switchyard.rules.yaml")).groups.flatMap(
  (group: Document) => group.rules,
);
const panelQueries: Query[] = dashboards.flatMap(({ title, panels }) =>
  panels.flatMap((panel: Document) =>
    panel.targets.map(({ expr, legendFormat }: Document) => ({
      ...{ source: `${title}, ${panel.title}`, expression: expr, legend: legendFormat },
    })),
  ),
);
const alertQueries: Query[] = rules.map(({ alert, expr }) => ({ source: alert, expression: expr, legend: "" }));

const tenantsMax = 3;
let service: TestService;
let prometheus: PrometheusServer | undefined;

before(async () => {
  const database = await freshDatabase();
  service = await startService(
    {
      "analytics.enabled": "true",
      "analytics.tenants_max": String(tenantsMax),
      "analytics.prometheus_url": "http://127.0.0.1:1",
      "database.read_url": database.url,
    },
    database.url,
  );
  prometheus = await findPrometheus();
  if (prometheus === undefined) return;
  afterFile(() => prometheus!.stop());
  await prometheus.start("", new URL(service.metricsUrl).host);
});

/** The labels of each metric that a node has, by the names of its series. */
function seriesLabels(): Map<string, readonly string[]> {
  // Prometheus adds the first two, and several processes on a machine the third.
  const added = ["job", "instance", "process"];
  const names = new Map<string, readonly string[]>([["up", added]]);
  for (const { name, type, labels, tenantLabel } of service.service.metrics.describe()) {
    const all = [...added, ...labels, ...(tenantLabel === undefined ? [] : [tenantLabel])];
    if (type !== "histogram") names.set(name, all);
    else
      for (const part of ["bucket", "sum", "count"])
        names.set(`${name}_${part}`, part === "bucket" ? [...all, "le"] : all);
  }
  return names;
}

/** Replaces what Grafana replaces. */
function filled(expression: string): string {
  return expression.replaceAll("$__rate_interval", "1m").replaceAll("$job", ".+").replaceAll("$tenant", ".+");
}

/** What is wrong with a query, for the metrics of a node. */
function faultsOf({ expression, legend }: Pick<Query, "expression" | "legend">): string[] {
  const known = seriesLabels();
  const { selectors, groupings } = readQuery(filled(expression));
  const faults: string[] = [];
  const check = (metric: string, labels: readonly string[]) => {
    const own = known.get(metric);
    if (own === undefined) faults.push(`no metric ${metric}`);
    else for (const label of labels) if (!own.includes(label)) faults.push(`${metric} has no label ${label}`);
  };
  for (const { metric, matchers } of selectors) {
    check(
      metric,
      matchers.map(({ label }) => label),
    );
    if (!matchers.some(({ label }) => label === "job")) faults.push(`${metric} of every job`);
    for (const { label, operator, value } of matchers) {
      if (label === "code" && operator.startsWith("="))
        for (const code of value.split("|")) if (!(code in catalogue)) faults.push(`no error code ${code}`);
    }
  }
  for (const { labels, metrics } of groupings)
    for (const metric of metrics)
      check(
        metric,
        labels.filter((label) => label !== "le" || metric.endsWith("_bucket")),
      );
  const shown = Array.from(legend.matchAll(/\{\{(\w+)\}\}/g), ([, label]) => label!);
  for (const { metric } of selectors) check(metric, shown);
  return faults;
}

test("every query of a dashboard and of an alert names metrics, labels and codes that a node has", () => {
  assert.ok(dashboards.length === 6 && panelQueries.length > 50 && alertQueries.length > 10);
  const faults = [...panelQueries, ...alertQueries].flatMap((query) =>
    faultsOf(query).map((fault) => `${query.source}: ${fault}`),
  );
  assert.deepEqual(faults, []);
  for (const [expression, legend, fault] of [
    ['sum(rate(removed_total{job="j"}[1m]))', "", "no metric removed_total"],
    ['api_calls_total{job="j",plane="x"}', "", "api_calls_total has no label plane"],
    ['sum by (plane) (api_calls_total{job="j"})', "", "api_calls_total has no label plane"],
    ['api_calls_total{job="j"}', "{{plane}}", "api_calls_total has no label plane"],
    ['api_calls_total{job="j",code=~"OK|WRONG"}', "", "no error code OK"],
    ["api_calls_total", "", "api_calls_total of every job"],
  ] as const)
    assert.equal(faultsOf({ expression, legend })[0], fault);
  assert.throws(() => readQuery("sum(rate(x[1m])"), SyntaxError);
});

test("the operations whose latency is shown exist, and the backlogs are those of a node", async () => {
  const ids = readOperations().map(({ id }) => id);
  const backlogs = (await (await fetch(`${service.metricsUrl}/metrics`)).text()).matchAll(
    /^backlog_rows\{backlog="(\w+)"/gm,
  );
  const names = Array.from(backlogs, ([, name]) => name!);
  assert.equal(names.length, 10);
  const shown = new Set<string>();
  for (const { source, expression } of [...panelQueries, ...alertQueries])
    for (const { matchers } of readQuery(filled(expression)).selectors)
      for (const { label, operator, value } of matchers) {
        const matches = (text: string) =>
          new RegExp(`^(?:${operator.endsWith("~") ? value : RegExp.escape(value)})$`).test(text);
        if (label === "operation") assert.ok(ids.filter(matches).length > 100, source);
        if (label !== "backlog") continue;
        assert.ok(names.some(matches), `${source}: ${value}`);
        for (const name of names.filter(matches)) shown.add(name);
      }
  assert.deepEqual([...shown].sort(), names.sort(), "every backlog is shown");
});

test("Prometheus answers every query of a dashboard from a node under load, also if most tenants have no series", async (t) => {
  if (prometheus === undefined) return t.skip(whyNoPrometheus());
  const query = async (expression: string): Promise<Document[]> => {
    const response = await fetch(`${prometheus!.url}/api/v1/query`, {
      method: "POST",
      body: new URLSearchParams({ query: expression }),
    });
    const { status, data, error } = (await response.json()) as Document;
    assert.equal(status, "success", `${expression}: ${error}`);
    return data.result;
  };
  for (let nth = 0; nth < tenantsMax + 3; nth++) {
    const tenant = await newTenant(service);
    const pool = await tenant.pool();
    for (let item = 0; item < 3; item++) await tenant.route(pool);
    await tenant.complete(await tenant.leaseOne(pool));
    await tenant.rest.call("GET", "/api/pools");
  }
  // A rate needs two samples of the last series.
  const isSampled = 'count_over_time(routing_decisions_total{tenant_id="other"}[1m]) >= 2';
  await until(async () => (await query(isSampled)).length > 0);
  const seriesOf = new Map<string, number>();
  let answered = 0;
  for (const { source, expression } of panelQueries) {
    const found = await query(filled(expression));
    if (found.length > 0) answered++;
    for (const { metric } of readQuery(filled(expression)).selectors)
      if (!seriesOf.has(metric)) seriesOf.set(metric, (await query(metric)).length);
    const hasSeries = readQuery(filled(expression)).selectors.every(({ metric }) => seriesOf.get(metric)! > 0);
    const isSelective = /UNAVAILABLE\|TIMEOUT/.test(expression) && !expression.includes("vector(0)");
    if (!hasSeries || isSelective || found.length > 0) continue;
    // A scrape may come too late on a busy machine.
    const later = () => query(filled(expression));
    await until(later, ({ length }) => length > 0).catch(() => assert.fail(`${source} shows nothing: ${expression}`));
  }
  assert.ok(answered > panelQueries.length / 2, `${answered} of ${panelQueries.length} queries have series`);
  for (const { expression } of alertQueries) await query(expression);
  const waiting = `backlog_rows{backlog="queue_items"} == ${2 * (tenantsMax + 3)}`;
  await until(
    () => query(waiting),
    ({ length }) => length === 1,
  );
  const tenants = await query('count by (tenant_id) ({tenant_id!=""})');
  assert.ok(tenants.length === tenantsMax + 1, tenants.map(({ metric }) => metric.tenant_id).join());
});

test("Grafana and Prometheus find their files where the compose file puts them", async () => {
  const { services } = await readCompose();
  const mounts = (name: string): string[][] => services[name].volumes.map((volume: string) => volume.split(":"));
  const provider = parse(await readDeploy("grafana/provider.yaml")).providers[0];
  const [dashboardMount] = mounts("grafana").filter(([, target]) => target === provider.options.path);
  assert.equal(dashboardMount?.[0], "./grafana/dashboards");
  const sources = new Set([...mounts("grafana"), ...mounts("prometheus")].map(([source]) => source));
  for (const file of ["./grafana/provider.yaml", "./grafana/datasource.yaml", "./prometheus"])
    assert.ok(sources.has(file), file);
  const source = parse(await readDeploy("grafana/datasource.yaml")).datasources[0];
  assert.equal(new URL(source.url).hostname, "prometheus");
  const { scrape_configs: jobs } = parse(await readDeploy("prometheus/prometheus.yaml"));
  assert.deepEqual(
    jobs[0].static_configs[0].targets.map((target: string) => target.split(":")[0]).sort(),
    Object.keys(services)
      .filter((name) => name.startsWith("node-"))
      .sort(),
  );
  for (const name of ["grafana", "prometheus"]) assert.deepEqual(services[name].profiles, ["watch"]);
  for (const { uid, panels, templating } of dashboards) {
    assert.match(uid, /^switchyard-\w+$/);
    assert.equal(templating.list[0].type, "datasource");
    assert.ok(panels.every(({ datasource }: Document) => datasource.uid === "$datasource"));
  }
});

test("the configuration for Kubernetes finds the port of metrics of the manifests' pods", async () => {
  const { spec } = parse(await readDeploy("kubernetes/deployment.yaml"));
  const labels = spec.template.metadata.labels;
  const [container] = spec.template.spec.containers;
  const meta = (port: string): Record<string, string> => ({
    __meta_kubernetes_pod_label_app_kubernetes_io_name: labels["app.kubernetes.io/name"],
    __meta_kubernetes_pod_label_app_kubernetes_io_component: labels["app.kubernetes.io/component"],
    __meta_kubernetes_pod_container_port_name: port,
  });
  const [job] = parse(await readDeploy("prometheus/kubernetes.yaml")).scrape_configs;
  const keeps: Document[] = job.relabel_configs.filter(({ action }: Document) => action === "keep");
  const kept = container.ports.filter(({ name }: Document) =>
    keeps.every(({ source_labels, regex }) =>
      new RegExp(`^(?:${regex})$`).test(source_labels.map((label: string) => meta(name)[label]).join(";")),
    ),
  );
  assert.deepEqual([job.job_name, kept.map(({ name }: Document) => name)], ["switchyard", ["metrics"]]);
});
