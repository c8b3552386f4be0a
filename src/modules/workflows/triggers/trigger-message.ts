import { create, toJson } from "@bufbuild/protobuf";
import { timestampFromMs, type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  type WorkflowTriggerEvent as EventMessage,
  type WorkflowTrigger as TriggerMessage,
  type WorkflowEventFilter,
  WorkflowEventFilterSchema,
  type WorkflowSchedule,
  WorkflowScheduleSchema,
  WorkflowTriggerSchema,
} from "../../../../gen/service/api/workflow_trigger_pb.ts";
import { invalid } from "../../../errors/index.ts";
import { dateOf, optionalTime, stampFields } from "../../../platform/records/index.ts";
import type { Json } from "../definitions/index.ts";
import { toValue } from "../runs/index.ts";
import type { TriggerEvent } from "./domain/event-match.ts";
import type { Overlap, Schedule, Trigger, TriggerCause } from "./domain/trigger.ts";

const catchUpSDefault = 60;

/** Reads the cause of a trigger; undefined if the request has none. Throws INVALID_ARGUMENT if it has two. */
export function toCause(request: {
  readonly schedule?: WorkflowSchedule | undefined;
  readonly event?: WorkflowEventFilter | undefined;
}): TriggerCause | undefined {
  const { schedule, event } = request;
  if (schedule !== undefined && event !== undefined) {
    throw invalid("event", "exclusive", "must be absent if schedule is present");
  }
  if (schedule !== undefined) return { kind: "schedule", schedule: toSchedule(schedule) };
  if (event === undefined) return undefined;
  return { kind: "event", event: { types: event.types, condition: event.condition } };
}

/** Reads the cause of a trigger that must have one. */
export function requireCause(request: Parameters<typeof toCause>[0]): TriggerCause {
  const cause = toCause(request);
  if (cause === undefined) throw invalid("schedule", "required", "is required, or event");
  return cause;
}

function toSchedule({ cron, timezone, overlap, jitterS, startAt, endAt, catchUpS }: WorkflowSchedule): Schedule {
  return {
    cron,
    timezone: timezone || "UTC",
    overlap: (overlap || "skip") as Overlap,
    jitterS,
    startAtMs: startAt && dateOf(startAt).getTime(),
    endAtMs: endAt && dateOf(endAt).getTime(),
    catchUpS: catchUpS ?? catchUpSDefault,
  };
}

/** Reads an event that a caller made up. */
export function toEvent(event: EventMessage | undefined, nowMs: number): TriggerEvent | undefined {
  if (event === undefined) return undefined;
  const { id, type, subject, time, data = {} } = event;
  return { id, type, subject, time: time === undefined ? new Date(nowMs) : dateOf(time), data };
}

/** Converts a value of a request to JSON. */
export function toPlain(value: Value): Json {
  return toJson(ValueSchema, value) as Json;
}

export function fromTrigger(trigger: Trigger): TriggerMessage {
  const { cause } = trigger;
  return create(WorkflowTriggerSchema, {
    id: trigger.id,
    tenantId: trigger.tenantId,
    environmentId: trigger.environmentId,
    name: trigger.name,
    definition: trigger.definition,
    version: trigger.version,
    enabled: trigger.enabled,
    disabledReason: trigger.disabledReason,
    ...fromCause(cause),
    input: toValue(trigger.input),
    runKey: trigger.runKey,
    nextAt: optionalTime(trigger.nextAt),
    lastFiredAt: optionalTime(trigger.lastFiredAt),
    lastRunId: trigger.lastRunId,
    lastSkippedAt: optionalTime(trigger.lastSkippedAt),
    lastError: trigger.lastError,
    consecutiveFailures: trigger.consecutiveFailures,
    ...stampFields(trigger),
  });
}

/** Converts a cause to the field of a message. */
export function fromCause(cause: TriggerCause) {
  if (cause.kind === "schedule") return { schedule: fromSchedule(cause.schedule) };
  const { types, condition } = cause.event;
  return { event: create(WorkflowEventFilterSchema, { types: [...types], condition }) };
}

function fromSchedule({ startAtMs, endAtMs, ...schedule }: Schedule): WorkflowSchedule {
  return create(WorkflowScheduleSchema, {
    ...schedule,
    ...(startAtMs !== undefined && { startAt: timestampFromMs(startAtMs) }),
    ...(endAtMs !== undefined && { endAt: timestampFromMs(endAtMs) }),
  });
}
