import type { Definitions } from "../../definitions/index.ts";
import type { NextRun } from "../domain/engine/advance-result.ts";
import { runError } from "../domain/engine/execution.ts";
import type { Mail } from "../domain/engine/state.ts";
import type { PlanCache } from "../plan-cache.ts";
import type { LiveRun } from "../storage/run-loader.ts";
import { checkRunInput } from "./run-input.ts";
import type { PreparedRun, RunStarter } from "./run-starter.ts";

interface Dependencies {
  readonly definitions: Pick<Definitions, "resolve">;
  readonly plans: PlanCache;
  readonly starter: Pick<RunStarter, "prepare">;
}

/** Prepares the run that continues another one. Like every prepared run, it may have reserved polls for its first tasks. */
export type PrepareNextRun = (run: LiveRun, next: NextRun, mail: readonly Mail[]) => Promise<PreparedRun>;

export function createContinuation({ definitions, plans, starter }: Dependencies): PrepareNextRun {
  return async (run, { id, input, startAtMs }, mail) => {
    const { tenantId, environmentId, definitionId, runKey, origin } = run;
    const active = await definitions.resolve(tenantId, definitionId, undefined, { environmentId, runKey });
    // A run whose definition is archived goes on to the end of its work.
    const published =
      active === undefined || active.archived ? await definitions.resolve(tenantId, definitionId, run.version) : active;
    const { version, definition, canary } = published!;
    const refusal = checkRunInput(definition, input);
    const { environment, definition: key, by, attributes, trigger } = origin;
    return starter.prepare(await plans.get(tenantId, definitionId, version), {
      ...{ tenantId, id, environmentId, runKey, input, startAtMs, parentRunId: "", mail },
      ...(refusal !== undefined && { refusal: runError("invalid_input", refusal) }),
      origin: {
        ...{ environment, definition: key, by, via: "continue_as_new", continues: run.id },
        ...(attributes !== undefined && { attributes }),
        ...(trigger !== undefined && { trigger }),
        ...(canary !== undefined && { canary }),
      },
    });
  };
}
