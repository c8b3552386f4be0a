import { type EnvironmentMode, modeAllows, type TenantId } from "../../../../platform/access/index.ts";

/** One thing that happened, as it is added to the log. */
export interface NewEvent {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly subject: string;
  readonly time: Date;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One thing that happened, as it stands in the log. */
export interface Event extends NewEvent {
  /** The environment of what it happened to; null when that belongs to none. */
  readonly environmentId: string | null;
  /** Whether that environment is production; null when there is none. */
  readonly inProduction: boolean | null;
}

/** What tells an event from others, and where it stands in the log. */
export interface EventHead extends Pick<Event, "id" | "type" | "subject" | "inProduction"> {
  readonly xid: string;
}

/** Where a reader of the log stands: after the event with this id of this transaction. */
export interface Position {
  readonly xid: string;
  readonly id: string;
  /** What was committed when the reader came: it may still stand behind a transaction under way, and is no news. */
  readonly snapshot?: string | undefined;
}

/** What a reader wants to see; empty lists and texts mean everything. */
export interface EventFilter {
  readonly types: readonly string[];
  readonly subject: string;
  /** The environments whose events the reader may see; events of none are for everybody. */
  readonly environmentMode: EnvironmentMode;
}

/** The most bytes that an event's data may take as JSON. */
export const dataBytesMax = 64 * 1024;

/** Whether an event is one that the reader may see and wants; `tenant.*` stands for all types that start so. */
export function wanted({ types, subject, environmentMode }: EventFilter, event: Event): boolean {
  if (!modeAllows(environmentMode, event.inProduction)) return false;
  if (subject !== "" && event.subject !== subject) return false;
  return types.length === 0 || types.some((type) => matchesType(type, event.type));
}

function matchesType(pattern: string, type: string): boolean {
  return pattern.endsWith(".*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
