import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { CelError } from "../../../platform/cel/index.ts";
import type { Database } from "../../../platform/db/index.ts";
import type { KeyedCall } from "../../../platform/idempotency/index.ts";
import { checkValue } from "../../../platform/json-schema/index.ts";
import type { Json } from "../definitions/index.ts";
import { acceptsUpdate, expressionFailure } from "./domain/engine/evaluation.ts";
import type { HistoryEntry } from "./domain/engine/history-entry.ts";
import type { Plan } from "./domain/engine/plan.ts";
import type { Mail, RunEvent } from "./domain/engine/state.ts";
import { parseStepKey, type StepKey, stepKey } from "./domain/engine/step-key.ts";
import { findUpdateWait } from "./domain/engine/steps/waits.ts";
import type { Run } from "./domain/run.ts";
import type { AdvancedRun } from "./run-engine.ts";
import { advanceTopic, type RunService } from "./run-service.ts";
import { type Signal, toMail } from "./run-signals.ts";
import { findConsumed } from "./storage/run-loader.ts";
import { runStore } from "./storage/run-store.ts";

/** An update that a run has taken. */
export interface AppliedUpdate {
  readonly updateId: string;
  readonly duplicate: boolean;
  /** Undefined as long as there is none. */
  readonly answer: Json | undefined;
}

interface Dependencies {
  readonly db: Database;
  readonly runs: Pick<RunService, "changeUnlessEnded" | "getRun" | "unlessEnded" | "waitFor">;
}

/** The step whose output answers an update, and the last revision that is known to have no answer. */
interface AwaitedAnswer {
  readonly step: StepKey;
  revision: number;
}

/** The advances of a run that one search for an answer reads at a time. */
const advancesRead = 100;

export type UpdateRun = ReturnType<typeof createRunUpdates>;

/** Creates the function that updates runs. An update is an event that is checked before a step takes it, in the same advance. */
export function createRunUpdates({ db, runs }: Dependencies) {
  /** The answer to an update, once its step has completed; undefined before. */
  async function findAnswer(run: Pick<Run, "id" | "revision">, context: Context, awaited: AwaitedAnswer) {
    for (;;) {
      const page = { fetch: advancesRead, offset: 0, after: String(awaited.revision) };
      const { rows } = await runStore(db.sql).history(context.tenantId, run, page);
      const found = answerIn(
        rows.flatMap(({ entries }) => entries) as unknown as readonly HistoryEntry[],
        awaited.step,
      );
      if (found !== undefined || rows.length === 0) return found;
      awaited.revision = rows.at(-1)!.revision;
    }
  }

  /** The step that answers an update that was applied before. Throws if there is none, or if the run has ended meanwhile. */
  async function findAwaited(context: Context, runId: string, { eventId }: Mail, plan: Plan): Promise<AwaitedAnswer> {
    const consumed = await findConsumed(db.sql, context.tenantId, runId, eventId);
    const step = consumed && answerOf(plan, consumed.step);
    if (step !== undefined) return { step, revision: consumed!.revision - 1 };
    // The events of a run are deleted with its end.
    if (consumed === undefined) await runs.unlessEnded(context, runId, "ended");
    throw fail("CONFLICT", { public: `"${eventId}" is the id of an event of the run that is no update.` });
  }

  return async <T extends Message>(
    context: Context,
    runId: string,
    update: Signal,
    waitMs: number,
    keyed: KeyedCall | undefined,
    toResponse: (applied: AppliedUpdate) => T,
  ): Promise<T | "duplicate"> => {
    const { mail } = toMail(context, update);
    const untilMs = performance.now() + waitMs;
    const topic = advanceTopic(context.tenantId, runId);
    let plan: Plan | undefined;
    let isKnown = false;
    let awaited: AwaitedAnswer | undefined;
    let answer: { readonly value: Json } | undefined;
    const toEvent = (advanced: AdvancedRun): RunEvent | undefined => {
      ({ plan, isKnown } = advanced);
      awaited = isKnown ? undefined : checkUpdate(advanced, mail);
      return awaited && { kind: "mail", mail: { ...mail, update: true } };
    };
    const respond = (_: () => Run, history: readonly HistoryEntry[]): T => {
      answer = awaited && answerIn(history, awaited.step);
      return toResponse({ updateId: mail.eventId, duplicate: isKnown, answer: answer?.value });
    };
    const applied = await runs.waitFor(context, topic, untilMs, async () => {
      const result = await runs.changeUnlessEnded(context, runId, keyed, toEvent, respond, mail.eventId);
      return typeof result === "string" || awaited !== undefined || isKnown ? result : undefined;
    });
    if (applied === undefined) {
      throw fail("FAILED_PRECONDITION", { public: `No step of the run waits for the update "${mail.event}" now.` });
    }
    const response = await runs.unlessEnded(context, runId, applied);
    if (response === "duplicate" || answer !== undefined) return response;
    const target = awaited ?? (await findAwaited(context, runId, mail, plan!));
    const found = await runs.waitFor(context, topic, untilMs, async () => {
      const run = await runs.getRun(context, runId);
      const value = await findAnswer(run, context, target);
      // A run that has ended answers no more.
      return value === undefined && run.endedAt !== null ? { value: undefined } : value;
    });
    return toResponse({ updateId: mail.eventId, duplicate: isKnown, answer: found?.value });
  };
}

/** Checks an update. Returns what answers it; undefined if no step takes it now. Throws if the step refuses it. */
function checkUpdate({ plan, run, execution }: AdvancedRun, mail: Mail): AwaitedAnswer | undefined {
  const key = execution.state.paused ? undefined : findUpdateWait(execution, mail);
  if (key === undefined) return undefined;
  const { step, positions } = execution.stepOf(key);
  if (step.work.kind !== "wait_event" || step.work.update === undefined) return undefined;
  const { schema, when } = step.work.update;
  const [violation] = schema === undefined ? [] : checkValue(schema, mail.payload, "payload");
  if (violation !== undefined) throw invalid(violation.path, "schema", violation.message);
  if (when !== undefined && !isAccepted(() => acceptsUpdate(execution, when, step, positions, mail.payload))) {
    throw fail("FAILED_PRECONDITION", { public: `The step ${key} refuses the update: its condition is not true.` });
  }
  return { step: answerOf(plan, key)!, revision: run.revision };
}

function isAccepted(check: () => boolean): boolean {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    const { message } = expressionFailure(error);
    throw fail("FAILED_PRECONDITION", { public: `The update cannot be checked: ${message}` });
  }
}

/** The step whose output answers the update that a wait took; undefined if the wait takes none. */
function answerOf(plan: Plan, wait: StepKey): StepKey | undefined {
  const { id, positions } = parseStepKey(wait);
  const work = plan.steps.get(id)?.work;
  const answer = work?.kind === "wait_event" ? work.update?.answer : undefined;
  return answer && stepKey(answer, positions.slice(0, plan.steps.get(answer)!.depth));
}

function answerIn(history: readonly HistoryEntry[], step: StepKey): { readonly value: Json } | undefined {
  const completed = history.find((entry) => entry.kind === "step_completed" && entry.step === step);
  return completed?.kind === "step_completed" ? { value: completed.output } : undefined;
}
