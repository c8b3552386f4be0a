import { type EnvironmentMode, modeAllows, type TenantId } from "../../../../platform/access/index.ts";

/** An event to add to the log. */
export interface NewEvent {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly subject: string;
  /** The subject of the caller that caused it; absent for the service itself. */
  readonly actor?: string | undefined;
  readonly time: Date;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event in the log. */
export interface Event extends NewEvent {
  /** The environment of the event's subject; null if it belongs to none. */
  readonly environmentId: string | null;
  /** Whether that environment is production; null without an environment. */
  readonly inProduction: boolean | null;
}

/** An event's identity and position, without its data. */
export interface EventHead extends Pick<Event, "id" | "type" | "subject" | "inProduction"> {
  readonly stamp: string;
}

/** A position in the log: after the event with this id of this transaction. */
export interface Position {
  readonly stamp: string;
  readonly id: string;
  /** The snapshot when the reader started. Events visible in it are not new, even if they follow this position. */
  readonly snapshot?: string | undefined;
}

/** A reader's filter. Empty lists and texts match everything. */
export interface EventFilter {
  readonly types: readonly string[];
  readonly subject: string;
  /** The environments whose events the reader may see. Events without an environment are always visible. */
  readonly environmentMode: EnvironmentMode;
}

/** The maximum size of an event's data as JSON, in bytes. */
export const dataBytesMax = 64 * 1024;

/** Whether an event matches a filter. A type such as `tenant.*` matches all types with that prefix. */
export function matchesFilter({ types, subject, environmentMode }: EventFilter, event: Event): boolean {
  if (!modeAllows(environmentMode, event.inProduction)) return false;
  if (subject !== "" && event.subject !== subject) return false;
  return types.length === 0 || types.some((type) => matchesType(type, event.type));
}

function matchesType(pattern: string, type: string): boolean {
  return pattern.endsWith(".*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
