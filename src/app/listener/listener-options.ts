import type { Config } from "../../config/index.ts";
import type { Edge } from "../../gateway/edge.ts";
import type { Log } from "../../platform/log/log.ts";
import type { Metrics } from "../../platform/telemetry/index.ts";
import { type ConnectionLimit, type ConnectionRefusal, createConnectionLimit } from "./connection-limit.ts";
import type { ListenerOptions } from "./listener.ts";

interface Dependencies {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The shortest interval between log lines about refused connections. */
const refusalLogMs = 10_000;

/** Creates the options of listeners by plane. All listeners of a plane share its connection limit. */
export function createListenerOptions({ config, log, metrics }: Dependencies) {
  const limits = new Map<string, ConnectionLimit>();
  metrics.gauge({
    name: "open_connections",
    help: "Open connections, by plane.",
    labels: ["plane"],
    collect: (gauge) => {
      for (const [plane, limit] of limits) gauge.set({ plane }, limit.open());
    },
  });
  const refused = metrics.counter({
    name: "connections_refused_total",
    help: "Connections closed on arrival, because the total or the per-address limit was reached.",
    labels: ["limit"],
  });
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  const onRefused = (limit: ConnectionRefusal) => {
    refused.inc({ limit });
    if (performance.now() - loggedAtMs < refusalLogMs) return;
    loggedAtMs = performance.now();
    const setting = limit === "total" ? "server.max_connections" : "server.max_connections_per_address";
    log.warn({ setting, limit: config[setting] }, "connections are refused: the limit is reached");
  };
  return (plane: string, edge: Edge, errorsUrl: () => string): ListenerOptions => {
    const connections = createConnectionLimit({
      max: config["server.max_connections"],
      maxPerAddress: config["server.max_connections_per_address"],
      proxyNetworks: config["server.proxy_networks"],
    });
    limits.set(plane, connections);
    const headerMs = config["server.header_timeout_s"] * 1000;
    return {
      edge,
      errorsUrl,
      onRefused,
      connections,
      timeouts: { headerMs, idleMs: config["server.idle_timeout_s"] * 1000 },
    };
  };
}
