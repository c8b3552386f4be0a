/** How a capability stands. */
export type CapabilityMode = "active" | "disabled" | "unwired" | "degraded";

/** How a capability stands, and why when it is not active. */
export interface Posture {
  readonly mode: CapabilityMode;
  readonly reason?: string;
}

/** Something that the instance may be able to do, and how to tell whether it is. */
export interface CapabilitySource {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The settings that switch it. */
  readonly settings: readonly string[];
  /** What it needs. */
  readonly dependencies: readonly string[];
  /** The full names of the services whose operations belong to it. */
  readonly services: readonly string[];
  /** Never shown to callers. */
  readonly hidden?: boolean;
  /** Asked at every call, so that what callers read is true now. */
  mode(): Posture | Promise<Posture>;
}

/** A capability as it stands now. */
export interface Capability extends Omit<CapabilitySource, "mode" | "hidden">, Posture {}

/** What a caller asks to see. */
export interface CapabilityFilter {
  readonly includeDisabled: boolean;
  readonly includeDegraded: boolean;
  readonly includeMissingDependency: boolean;
  /** When there are any, only these, whatever the switches say. */
  readonly modes: readonly string[];
  readonly query: string;
}

/** The modes that a filter shows. */
export function modesShown(filter: CapabilityFilter): ReadonlySet<string> {
  if (filter.modes.length > 0) return new Set(filter.modes);
  const shown = new Set<CapabilityMode>(["active"]);
  if (filter.includeDegraded) shown.add("degraded");
  if (filter.includeDisabled) shown.add("disabled");
  if (filter.includeMissingDependency) shown.add("unwired");
  return shown;
}

/** Whether a filter shows a capability. */
export function shows(filter: CapabilityFilter, { id, name, mode }: Capability): boolean {
  const query = filter.query.toLowerCase();
  const named = id.toLowerCase().includes(query) || name.toLowerCase().includes(query);
  return named && modesShown(filter).has(mode);
}
