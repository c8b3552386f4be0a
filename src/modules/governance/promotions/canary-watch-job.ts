import { create } from "@bufbuild/protobuf";
import {
  AdvanceCanaryRequestSchema,
  PromotionService as Rpc,
  StopCanaryRequestSchema,
} from "../../../../gen/service/api/promotion_pb.ts";
import type { OperationCaller } from "../../../chain/operation-caller.ts";
import { Failure } from "../../../errors/index.ts";
import type { JobKind } from "../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { CanaryScorer } from "./canary-scorer.ts";
import { nextMove } from "./domain/canary-steps.ts";
import { type CandidateRef, candidateStore } from "./store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "log" | "clock" | "platformTenantId"> {
  /** Calls an operation in process. */
  readonly call: OperationCaller;
  readonly scoreCanary: CanaryScorer;
}

const everyMs = 5000;
const pageSize = 100;
const subject = "service:promotions";

/**
 * The job that stops canaries which do harm, and moves those with steps on. A canary without steps that does no harm runs until
 * somebody stops it.
 */
export function canaryWatchJob({ db, log, clock, call, platformTenantId, scoreCanary }: Dependencies): JobKind {
  async function moveOn({ tenantId, id }: CandidateRef): Promise<void> {
    const { sql } = db;
    const candidate = await candidateStore(sql).find(tenantId, id);
    if (candidate?.state !== "canary_running") return;
    const { verdict } = await scoreCanary({ sql, tenantId }, candidate);
    const move = nextMove(candidate.canary!, verdict, clock.now());
    if (move === "wait") return;
    const key = `canary-${move}:${id}:${candidate.recordVersion}`;
    const origin = { tenantId, subject, idempotencyKey: key, requestId: id };
    if (move === "stop")
      await call(Rpc.method.stopCanary, origin, create(StopCanaryRequestSchema, { candidateId: id }));
    else await call(Rpc.method.advanceCanary, origin, create(AdvanceCanaryRequestSchema, { candidateId: id }));
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
          await moveOn(candidate).catch((error) => {
            // Somebody else may have stopped or aborted it, or its tenant is suspended.
            const level = error instanceof Failure ? "info" : "error";
            log[level]({ err: error, candidate_id: candidate.id }, "a canary could not be stopped or moved on");
          });
        }
        last = page.length < pageSize ? undefined : page.at(-1);
      } while (last !== undefined);
    },
  };
}
