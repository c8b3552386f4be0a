import { create } from "@bufbuild/protobuf";
import { PromotionService as Rpc, StopCanaryRequestSchema } from "../../../../gen/service/api/promotion_pb.ts";
import type { OperationCaller } from "../../../chain/operation-caller.ts";
import { Failure } from "../../../errors/index.ts";
import type { JobKind } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { CanaryScorer } from "./canary-scorer.ts";
import { type CandidateRef, candidateStore } from "./store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "log" | "platformTenantId"> {
  /** Calls an operation in process. */
  readonly call: OperationCaller;
  readonly scoreCanary: CanaryScorer;
}

const everyMs = 5000;
const pageSize = 100;
const subject = "service:promotions";

/** The job that stops canaries which do harm. A canary without a verdict runs until somebody stops it. */
export function canaryWatchJob({ db, log, call, platformTenantId, scoreCanary }: Dependencies): JobKind {
  async function stopIfFailed({ tenantId, id }: CandidateRef): Promise<void> {
    const { sql } = db;
    const candidate = await candidateStore(sql).find(tenantId, id);
    if (candidate?.state !== "canary_running") return;
    const { verdict } = await scoreCanary({ sql, tenantId }, candidate);
    if (verdict !== "failed") return;
    const key = `canary-failed:${id}:${candidate.recordVersion}`;
    const origin = { tenantId, subject, idempotencyKey: key, requestId: id };
    await call(Rpc.method.stopCanary, origin, create(StopCanaryRequestSchema, { candidateId: id }));
  }

  return {
    kind: "promotion.watch_canaries",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      let last: CandidateRef | undefined;
      do {
        const page = await candidateStore(db.sql).listRunning(last, pageSize);
        for (const candidate of page) {
          if (signal.aborted) return;
          await stopIfFailed(candidate).catch((error) => {
            // Somebody else may have stopped or aborted it, or its tenant is suspended.
            const level = error instanceof Failure ? "info" : "error";
            log[level]({ err: error, candidate_id: candidate.id }, "a failed canary could not be stopped");
          });
        }
        last = page.length < pageSize ? undefined : page.at(-1);
      } while (last !== undefined);
    },
  };
}
