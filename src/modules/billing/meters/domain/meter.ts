import type { Stamps } from "../../../../platform/records/index.ts";

/** How the usage of a time range follows from its records. */
export type Aggregation = "sum" | "count" | "max" | "last" | "unique_count";

/** A meter: what is counted, and how. */
export interface Meter extends Stamps {
  readonly key: string;
  readonly name: string;
  readonly aggregation: Aggregation;
  /** The property that holds the value; empty if records hold it as their quantity. */
  readonly valuePath: string;
  readonly groupBy: readonly string[];
  readonly status: "active" | "archived";
  /** Whether the service itself counts it. */
  readonly serviceFed: boolean;
}

const builtIn = { valuePath: "", groupBy: [], status: "active", serviceFed: true } as const;
const stamps = { createdAt: new Date(0), updatedAt: new Date(0), recordVersion: 1 };

/** The meters that the service counts itself, sorted by key. */
export const serviceMeters: readonly Meter[] = [
  { key: "service.deliveries", name: "Notification deliveries that were not skipped", aggregation: "sum" },
  { key: "service.executions", name: "Executions of connector actions", aggregation: "sum" },
  { key: "service.routes", name: "Routing decisions", aggregation: "sum" },
  { key: "service.runs", name: "Workflow runs", aggregation: "sum" },
  { key: "service.storage", name: "Stored bytes, measured daily", aggregation: "max" },
].map((meter) => ({ ...builtIn, ...stamps, ...meter }) as Meter);

/** The prefix of the keys of service meters. */
export const reservedPrefix = "service.";
