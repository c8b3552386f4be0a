import type { TenantId } from "../../../platform/access/index.ts";

/** One thing that happened. */
export interface Event {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly subject: string;
  readonly time: Date;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What tells an event from others, and where it stands in the log. */
export interface EventHead extends Pick<Event, "id" | "type" | "subject"> {
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
}

/** The most bytes that an event's data may take as JSON. */
export const dataBytesMax = 64 * 1024;

/** Whether an event is one that the reader wants; `tenant.*` stands for all types that start so. */
export function wanted({ types, subject }: EventFilter, event: Event): boolean {
  if (subject !== "" && event.subject !== subject) return false;
  return types.length === 0 || types.some((type) => matchesType(type, event.type));
}

function matchesType(pattern: string, type: string): boolean {
  return pattern.endsWith(".*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
