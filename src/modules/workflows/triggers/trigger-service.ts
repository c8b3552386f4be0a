import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { requireEnvironmentAccess } from "../../../platform/access/index.ts";
import { CelError } from "../../../platform/cel/index.ts";
import { jitterMs, listTimes, readSchedule } from "../../../platform/cron/index.ts";
import { lockFor, notFound, unchangedRecord, updateRefusal } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange } from "../../../platform/records/index.ts";
import { shardOf } from "../../../platform/shards/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Json } from "../definitions/index.ts";
import type { Environments } from "../environments/index.ts";
import { matchesType, type TriggerEvent } from "./domain/event-match.ts";
import { shardCount, type Trigger, type TriggerCause, type TriggerSettings, triggersMax } from "./domain/trigger.ts";
import { type SchedulePosition, triggerStore } from "./trigger-store.ts";
import { checkTemplates, evaluateTemplates, isConditionTrue, type TriggerValues } from "./trigger-templates.ts";

export interface NewTrigger extends TriggerSettings {
  /** Empty for production. */
  readonly environmentId: string;
  readonly enabled: boolean;
  readonly cause: TriggerCause;
}

/** The fields that an update can change. */
export interface TriggerChange extends Partial<TriggerSettings> {
  readonly enabled?: boolean | undefined;
  readonly cause?: TriggerCause | undefined;
}

/** A trigger to try. */
export interface PreviewInput extends Pick<TriggerSettings, "input" | "runKey"> {
  readonly cause: TriggerCause;
  readonly sample: TriggerEvent | undefined;
  readonly afterMs: number;
}

export interface Preview {
  readonly times: readonly number[];
  readonly starts: boolean;
  readonly reason: string;
  readonly input?: Json;
  readonly runKey?: string;
}

interface Dependencies {
  readonly events: EventRecorder;
  readonly environments: Environments;
  /** Wakes the nodes that start runs, after a change of triggers. */
  readonly wakeWorkers: () => void;
}

const timesShown = 10;

export type TriggerService = ReturnType<typeof createTriggerService>;

export function createTriggerService({ events, environments, wakeWorkers }: Dependencies) {
  async function getTrigger(context: Context, id: string): Promise<Trigger> {
    return requireAccess(context, await triggerStore(context.sql).find(context.tenantId, id));
  }

  async function requireFreeName(context: Context, environmentId: string, name: string, id: string): Promise<void> {
    if (!(await triggerStore(context.sql).isNameTaken(context.tenantId, environmentId, name, id))) return;
    throw fail("ALREADY_EXISTS", { public: `The environment already has a trigger named "${name}".` });
  }

  return {
    getTrigger,

    async createTrigger(context: Context, input: NewTrigger): Promise<Trigger> {
      const { sql, tenantId, nowMs, afterCommit } = context;
      const environment = await environments.require(context, input.environmentId);
      checkTemplates(input, input.cause);
      const store = triggerStore(sql);
      await lockFor(sql, "workflow_triggers", tenantId);
      if ((await store.count(tenantId)) >= triggersMax) {
        throw fail("FAILED_PRECONDITION", {
          public: `A tenant can have at most ${triggersMax} workflow triggers. Delete one first.`,
        });
      }
      const id = ulid(nowMs);
      await requireFreeName(context, environment.id, input.name, id);
      const shard = shardOf(tenantId, shardCount);
      if (input.cause.kind === "event" && input.enabled) await store.openCursor(tenantId, shard);
      const trigger = await store.insert(
        {
          ...input,
          tenantId,
          id,
          environmentId: environment.id,
          environmentKey: environment.key,
          createdAt: new Date(nowMs),
        },
        shard,
        positionAt(id, input.cause, input.enabled, nowMs),
      );
      const { name, definition } = trigger;
      const data = { environment_id: environment.id, name, definition, kind: trigger.cause.kind };
      await events.record(context, "workflow.trigger.created", id, data);
      afterCommit(wakeWorkers);
      return trigger;
    },

    async updateTrigger(
      context: Context,
      id: string,
      change: TriggerChange,
      expectedVersion: number | undefined,
    ): Promise<Trigger> {
      const { sql, tenantId, nowMs, afterCommit } = context;
      if (isEmptyChange(change)) {
        return unchangedRecord(await getTrigger(context, id), expectedVersion, "workflow trigger");
      }
      const store = triggerStore(sql);
      if (change.enabled === true) await store.openCursor(tenantId, shardOf(tenantId, shardCount));
      const current = requireAccess(context, await store.lock(tenantId, id));
      const cause = change.cause ?? current.cause;
      if (cause.kind !== current.cause.kind) {
        throw invalid(cause.kind, "kind", `must be absent: the trigger has ${kindNames[current.cause.kind]}`);
      }
      const { input = current.input, runKey: newRunKey = current.runKey } = change;
      checkTemplates({ input, runKey: newRunKey }, cause);
      if (change.name !== undefined) await requireFreeName(context, current.environmentId, change.name, id);
      const enabled = change.enabled === current.enabled ? undefined : change.enabled;
      const isMoved = change.cause !== undefined || enabled !== undefined;
      const position = isMoved ? positionAt(id, cause, enabled ?? current.enabled, nowMs) : undefined;
      const stored = { ...change, enabled, position };
      const trigger = await store.update(tenantId, id, stored, expectedVersion, new Date(nowMs));
      if (trigger === undefined) throw updateRefusal(current, "workflow trigger");
      const { cause: _, runKey, ...named } = change;
      const fields = changedFields({ ...named, run_key: runKey, [cause.kind]: change.cause });
      const data = { environment_id: trigger.environmentId, name: trigger.name, fields };
      await events.record(context, "workflow.trigger.updated", id, data);
      afterCommit(wakeWorkers);
      return trigger;
    },

    async deleteTrigger(context: Context, id: string): Promise<Trigger> {
      const { sql, tenantId } = context;
      const store = triggerStore(sql);
      const trigger = requireAccess(context, await store.lock(tenantId, id));
      await store.remove(tenantId, id);
      const data = { environment_id: trigger.environmentId, name: trigger.name };
      await events.record(context, "workflow.trigger.deleted", id, data);
      return trigger;
    },

    previewTrigger({ cause, sample, afterMs, ...templates }: PreviewInput): Preview {
      checkTemplates(templates, cause);
      const meter = { steps: 0 };
      const evaluate = (values: TriggerValues, times: readonly number[]): Preview => {
        try {
          if ("event" in values && cause.kind === "event") {
            const reason = refusalOf(cause.event, values.event);
            if (reason !== undefined) return { times, starts: false, reason };
          }
          return { times, starts: true, reason: "", ...evaluateTemplates(templates, values, meter) };
        } catch (error) {
          if (!(error instanceof CelError)) throw error;
          return { times, starts: false, reason: error.message };
        }
      };
      if (cause.kind === "event") {
        if (sample === undefined) throw invalid("sample", "required", "is required for an event trigger");
        return evaluate({ event: sample }, []);
      }
      const times = listTimes(requireTimes(cause), afterMs, timesShown);
      const [first] = times;
      if (first === undefined) return { times, starts: false, reason: "The schedule has no further times." };
      return evaluate({ schedule: { time: new Date(first) } }, times);
    },
  };

  function refusalOf({ types, condition }: { types: readonly string[]; condition: string }, event: TriggerEvent) {
    if (!matchesType(types, "", event)) return `The type ${event.type} is not one of the trigger's.`;
    return isConditionTrue(condition, event, { steps: 0 }) ? undefined : "The condition is false.";
  }
}

const kindNames = { schedule: "a schedule", event: "an event filter" } as const;

/** The position of a trigger that starts now. Throws INVALID_ARGUMENT for a schedule that cannot be read. */
function positionAt(id: string, cause: TriggerCause, enabled: boolean, nowMs: number): SchedulePosition {
  const nextMs = cause.kind === "event" ? undefined : requireTimes(cause).after(nowMs);
  if (cause.kind === "event" || nextMs === undefined || !enabled) return { nextAt: null, dueAt: null };
  return { nextAt: new Date(nextMs), dueAt: new Date(nextMs + jitterMs(id, cause.schedule)) };
}

function requireTimes({ schedule }: TriggerCause & { readonly kind: "schedule" }) {
  const { startAtMs, endAtMs } = schedule;
  if (startAtMs !== undefined && endAtMs !== undefined && endAtMs < startAtMs) {
    throw invalid("schedule.end_at", "after", "must not be before start_at");
  }
  const times = readSchedule(schedule);
  if ("field" in times) throw invalid(`schedule.${times.field}`, times.field, times.message);
  return times;
}

function requireAccess(context: Context, trigger: Trigger | undefined): Trigger {
  if (trigger === undefined) throw notFound("workflow trigger");
  requireEnvironmentAccess(context, trigger.environmentKey);
  return trigger;
}
