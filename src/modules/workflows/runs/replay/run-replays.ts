import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../../chain/call.ts";
import { fail } from "../../../../errors/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { type KeyedCall, unlessRepeated } from "../../../../platform/idempotency/index.ts";
import { deadLetterStore } from "../dead-letters/dead-letter-store.ts";
import type { Run } from "../domain/run.ts";
import type { RunService } from "../run-service.ts";
import { letterOf } from "../run-write-builder.ts";
import { type PlannedReplay, type ReplayInput, type ReplayService, runKeyTaken } from "./replay-service.ts";

interface Dependencies {
  readonly db: Database;
  readonly getRun: RunService["getRun"];
  readonly replays: ReplayService;
}

/** Replays runs that people name. */
export type RunReplays = ReturnType<typeof createRunReplays>;

export function createRunReplays({ db, getRun, replays }: Dependencies) {
  return {
    /** Replays a run, or only plans it. Its dead letter is replayed with it; this does not count towards the maximum. */
    async replayRun<T extends Message>(
      context: Context,
      runId: string,
      input: ReplayInput,
      isDryRun: boolean,
      keyed: KeyedCall | undefined,
      toResponse: (planned: PlannedReplay, run: Run | undefined) => T,
    ): Promise<T | "duplicate"> {
      const { tenantId, principal } = context;
      return unlessRepeated(db.sql, keyed, async () => {
        const source = await getRun(context, runId);
        const planned = await replays.plan(context, source, input);
        if (isDryRun) return toResponse(planned, undefined);
        const letter = letterOf(source);
        const result = await replays.start(context, {
          ...{ planned, reason: input.reason, record: keyed?.record },
          toResponse: (run: Run) => toResponse(planned, run),
          change: (tx, newRunId) => deadLetterStore(tx).noteReplay(tenantId, letter, newRunId, principal.subject),
        });
        if (result === "run_key_taken") throw runKeyTaken(source);
        if (result === "unchanged") {
          throw fail("FAILED_PRECONDITION", {
            public: `The dead letter ${letter} of the run is quarantined. Release it first.`,
          });
        }
        return result;
      });
    },
  };
}
