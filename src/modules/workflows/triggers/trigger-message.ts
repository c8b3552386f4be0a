import { toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import type {
  WorkflowTriggerEvent as EventMessage,
  WorkflowEventFilter,
  WorkflowSchedule,
} from "../../../../gen/service/api/workflow_trigger_pb.ts";
import { invalid } from "../../../errors/index.ts";
import { dateOf } from "../../../platform/records/index.ts";
import type { Json } from "../definitions/index.ts";
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

export const fromTrigger = ({ cause, ...trigger }: Trigger) => ({ ...trigger, ...fromCause(cause) });

/** Converts a cause to the field of a message. */
export const fromCause = (cause: TriggerCause) =>
  cause.kind === "event" ? { event: cause.event } : { schedule: fromSchedule(cause.schedule) };

const fromSchedule = ({ startAtMs, endAtMs, ...schedule }: Schedule) => ({
  ...schedule,
  startAt: startAtMs === undefined ? undefined : new Date(startAtMs),
  endAt: endAtMs === undefined ? undefined : new Date(endAtMs),
});
