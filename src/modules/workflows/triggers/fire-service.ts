import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../chain/call.ts";
import { invalid } from "../../../errors/index.ts";
import { CelError } from "../../../platform/cel/index.ts";
import type { Database } from "../../../platform/db/index.ts";
import type { KeyedCall } from "../../../platform/idempotency/index.ts";
import type { Runs } from "../runs/index.ts";
import type { TriggerEvent } from "./domain/event-match.ts";
import type { Trigger } from "./domain/trigger.ts";
import type { TriggerService } from "./trigger-service.ts";
import { triggerStore } from "./trigger-store.ts";
import { evaluateTemplates, type RunTemplateResult, type TriggerValues, usesVariable } from "./trigger-templates.ts";

/** Starts a run of a trigger for a caller. */
export type FireService = ReturnType<typeof createFireService>;

interface Dependencies {
  readonly db: Database;
  readonly service: Pick<TriggerService, "getTrigger">;
  readonly startRun: Runs["startRun"];
}

/** Creates the function that starts a run of a trigger now. */
export function createFireService({ db, service, startRun }: Dependencies) {
  return async <T extends Message>(
    context: Context,
    triggerId: string,
    event: TriggerEvent | undefined,
    keyed: KeyedCall | undefined,
    toResponse: (runId: string, started: boolean) => T,
  ): Promise<T | "duplicate"> => {
    const trigger = await service.getTrigger(context, triggerId);
    const { definition, version, environmentId } = trigger;
    const input = {
      ...{ definition, version: version || undefined, environmentId, startAtMs: undefined },
      ...evaluate(trigger, valuesOf(trigger, event, context.nowMs)),
      origin: { trigger: { id: trigger.id, depth: 1 } },
    };
    let startedId: string | undefined;
    const response = await startRun(context, input, keyed, ({ id }, started) => {
      startedId = started ? id : undefined;
      return toResponse(id, started);
    });
    if (response !== "duplicate" && startedId !== undefined) {
      await triggerStore(db.sql).recordFired(trigger, startedId, new Date(context.nowMs));
    }
    return response;
  };
}

function valuesOf(trigger: Trigger, event: TriggerEvent | undefined, nowMs: number): TriggerValues {
  if (trigger.cause.kind === "schedule") {
    if (event !== undefined) throw invalid("event", "kind", "must be absent: the trigger has a schedule");
    return { schedule: { time: new Date(nowMs) } };
  }
  if (event !== undefined) return { event };
  if (usesVariable(trigger, "event"))
    throw invalid("event", "required", "is required: the templates of the trigger use it");
  return { event: { id: "", type: "", subject: "", time: new Date(nowMs), data: {} } };
}

function evaluate(trigger: Trigger, values: TriggerValues): RunTemplateResult {
  try {
    return evaluateTemplates(trigger, values, { steps: 0 });
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    throw invalid("event", "template", `does not fit the templates of the trigger: ${error.message}`);
  }
}
