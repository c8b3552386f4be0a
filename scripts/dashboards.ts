// Writes the Grafana dashboards in deploy/grafana/dashboards from their declaration, dashboards/panels.ts.
// With --check it writes nothing and fails if the existing files differ.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Dashboard, dashboards, type Panel } from "./dashboards/panels.ts";

const folder = "deploy/grafana/dashboards";
const datasource = { type: "prometheus", uid: "$datasource" };

const files = new Map(
  Object.entries(dashboards).map(([name, dashboard]) => [`${name}.json`, format(toGrafana(name, dashboard))]),
);
mkdirSync(folder, { recursive: true });
const existing = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]));
const drifted = new Set([...files.keys(), ...existing.keys()].filter((name) => files.get(name) !== existing.get(name)));
if (!process.argv.includes("--check")) {
  for (const name of existing.keys()) if (!files.has(name)) rmSync(join(folder, name));
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  console.log(`Wrote ${files.size} dashboards to ${folder}.`);
} else if (drifted.size > 0) {
  console.error(`Out of date; run \`npm run docs\`:\n${[...drifted].map((name) => `  ${folder}/${name}`).join("\n")}`);
  process.exitCode = 1;
}

/** JSON with a line for each property, and for each panel. */
function format({ panels, ...rest }: ReturnType<typeof toGrafana>): string {
  const lines = Object.entries(rest).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},`);
  const panelLines = panels.map((panel) => `    ${JSON.stringify(panel)}`).join(",\n");
  return ["{", ...lines, '  "panels": [', panelLines, "  ]", "}", ""].join("\n");
}

function toGrafana(name: string, { title, isOfTenant, panels }: Dashboard) {
  return {
    uid: `switchyard-${name}`,
    title,
    tags: ["switchyard"],
    // Grafana sets the id.
    id: null,
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    links: [{ type: "dashboards", title: "Switchyard", tags: ["switchyard"], asDropdown: true, keepTime: true }],
    templating: {
      list: [
        { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" },
        variable("job", "Job", "label_values(rpc_server_active_calls, job)"),
        ...(isOfTenant ? [variable("tenant", "Tenant", 'label_values(api_calls_total{job=~"$job"}, tenant_id)')] : []),
      ],
    },
    panels: panels.map(toPanel),
  };
}

function variable(name: string, label: string, query: string) {
  const value = { selected: true, text: "All", value: "$__all" };
  return {
    ...{ name, label, type: "query", datasource, refresh: 2, sort: 1 },
    ...{ definition: query, query: { query, refId: name }, includeAll: true, multi: true, current: value },
  };
}

/** Two panels in a row. */
function toPanel({ title, unit, queries, description }: Panel, at: number) {
  return {
    ...{ id: at + 1, type: "timeseries", title, ...(description !== undefined && { description }), datasource },
    gridPos: { x: 12 * (at % 2), y: 8 * Math.floor(at / 2), w: 12, h: 8 },
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10, showPoints: "never" } }, overrides: [] },
    options: {
      legend: { displayMode: "list", placement: "bottom" },
      tooltip: { mode: "multi", sort: "desc" },
    },
    targets: Object.entries(queries).map(([legend, query], nth) => ({
      refId: String.fromCharCode(65 + nth),
      datasource,
      expr: query.replaceAll("{@", '{job=~"$job"').replaceAll("[@]", "[$__rate_interval]"),
      legendFormat: legend,
    })),
  };
}
