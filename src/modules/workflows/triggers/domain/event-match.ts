import type { TenantId } from "../../../../platform/access/index.ts";
import type { Trigger } from "./trigger.ts";

/** The part of an event that decides whether a trigger looks at it. */
interface EventSubject {
  readonly type: string;
  readonly subject: string;
}

/** An event with everything that a trigger can use. */
export interface TriggerEvent extends EventSubject {
  readonly id: string;
  readonly time: Date;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event in the log of a tenant. */
export interface LoggedEvent extends TriggerEvent {
  readonly tenantId: TenantId;
  /** Null if it belongs to no environment. */
  readonly environmentId: string | null;
}

/** Whether the type of an event is one of a trigger's. Events about the trigger itself never are. */
export function matchesType(types: readonly string[], triggerId: string, { type, subject }: EventSubject): boolean {
  if (type.startsWith("workflow.trigger.") && subject === triggerId) return false;
  return types.some((pattern) => (pattern.endsWith(".*") ? type.startsWith(pattern.slice(0, -1)) : type === pattern));
}

/**
 * Whether an event of a matching type is for a trigger: it is of the trigger's environment or of none, and not of a run of the
 * definition that the trigger would start again.
 */
export function isFor(
  { environmentId, definition }: Pick<Trigger, "environmentId" | "definition">,
  event: Pick<LoggedEvent, "type" | "environmentId" | "data">,
): boolean {
  if (event.environmentId !== null && event.environmentId !== environmentId) return false;
  return !isAboutRuns(event) || (event.data.definition_key !== definition && event.data.definition_id !== definition);
}

/** The number of triggers in the chain that led to an event; 0 if no trigger did. */
export function depthOf(event: Pick<TriggerEvent, "type" | "data">): number {
  const depth = isAboutRuns(event) ? event.data.trigger_depth : undefined;
  return typeof depth === "number" ? depth : 0;
}

function isAboutRuns({ type }: Pick<TriggerEvent, "type">): boolean {
  return type.startsWith("workflow.run.") || type.startsWith("workflow.approval.");
}
