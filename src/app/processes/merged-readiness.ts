import type { ComponentHealth, Readiness } from "../../gateway/health.ts";

const severities = ["ok", "degraded", "unhealthy"] as const;

/**
 * The readiness of a machine, from that of each of its processes; undefined for one that does not serve. The machine is ready while
 * one process is, because every connection goes to a process that accepts it. Every component shows its worst state.
 */
export function mergeReadiness(reports: readonly (Readiness | undefined)[]): Readiness {
  const components: Record<string, ComponentHealth> = {};
  for (const report of reports) {
    for (const [name, health] of Object.entries(report?.components ?? {})) {
      const worst = components[name];
      if (worst === undefined || isWorse(health, worst)) components[name] = health;
    }
  }
  const ready = reports.filter((report) => report !== undefined && report.status !== "not_ready").length;
  components.processes = processesHealth(ready, reports.length);
  const isSound = Object.values(components).every(({ status }) => status === "ok");
  return {
    status: ready === 0 ? "not_ready" : isSound ? "ready" : "degraded",
    booted: reports.some((report) => report?.booted),
    components,
  };
}

function processesHealth(ready: number, count: number): ComponentHealth {
  if (ready === count) return { status: "ok" };
  return { status: ready === 0 ? "unhealthy" : "degraded", detail: `${ready} of ${count} processes are ready` };
}

function isWorse(one: ComponentHealth, other: ComponentHealth): boolean {
  return severities.indexOf(one.status) > severities.indexOf(other.status);
}
