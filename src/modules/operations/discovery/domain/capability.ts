/** The state of a capability. */
export type CapabilityMode = "active" | "disabled" | "unwired" | "degraded";

/** The state of a capability, with a reason unless it is active. */
export interface Posture {
  readonly mode: CapabilityMode;
  readonly reason?: string;
}

/** A feature of the instance, with the function that determines its state. */
export interface CapabilitySource {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The settings that control it. */
  readonly settings: readonly string[];
  /** The capabilities and systems that it requires. */
  readonly dependencies: readonly string[];
  /** The full names of the services whose operations belong to it. */
  readonly services: readonly string[];
  /** Whether the capability is never shown to callers. */
  readonly hidden?: boolean;
  /** Called on every request, so that callers always see the current state. */
  mode(): Posture | Promise<Posture>;
}

export interface CapabilityFilter {
  readonly includeDisabled: boolean;
  readonly includeDegraded: boolean;
  readonly includeMissingDependency: boolean;
  /** If not empty, only these modes, and the `include` flags are ignored. */
  readonly modes: readonly string[];
  readonly query: string;
}

/** The modes that match a filter. */
export function visibleModes(filter: CapabilityFilter): ReadonlySet<string> {
  if (filter.modes.length > 0) return new Set(filter.modes);
  const shown = new Set<CapabilityMode>(["active"]);
  if (filter.includeDegraded) shown.add("degraded");
  if (filter.includeDisabled) shown.add("disabled");
  if (filter.includeMissingDependency) shown.add("unwired");
  return shown;
}

export function matchesFilter(
  filter: CapabilityFilter,
  { id, name, mode }: Pick<CapabilitySource, "id" | "name"> & Posture,
): boolean {
  const query = filter.query.toLowerCase();
  const named = id.toLowerCase().includes(query) || name.toLowerCase().includes(query);
  return named && visibleModes(filter).has(mode);
}
