import type { RolloutEvidenceService as Rpc } from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { databaseNow } from "../database-time.ts";
import { type Run, type RunMode, statusAt } from "../domain/run.ts";
import { possibleRunCalls } from "../domain/run-states.ts";
import type { ReceiptType } from "../domain/subject.ts";
import type { PackChanges } from "../packs/pack-changes.ts";
import type { RunService } from "./run-service.ts";
import { runStore } from "./run-store.ts";

export function runHandlers(service: RunService, changes: PackChanges) {
  return {
    async startEvidenceRun(context, request) {
      const { environmentId, packId, claim, leaseS, deadlineS } = request;
      const input = { type: request.type as ReceiptType, mode: request.mode as RunMode, claim, leaseS, deadlineS };
      const { run, token } = await service.startRun(context, environmentId, packId, input);
      return { run: fromRun(run, token) };
    },

    async listEvidenceRuns(context, request) {
      const { tenantId, sql } = context;
      const { id: packId } = await changes.find(context, request.environmentId, request.packId);
      const page = await context.page("runs", request, [packId], (wanted) =>
        runStore(sql).list(tenantId, packId, wanted),
      );
      const nowMs = (await databaseNow(sql)).getTime();
      return { ...page, runs: page.runs.map((run) => fromRun({ ...run, status: statusAt(run, nowMs) })) };
    },

    async getEvidenceRun(context, { environmentId, runId }) {
      const run = await service.getRun(context, environmentId, runId);
      const nowMs = (await databaseNow(context.sql)).getTime();
      return { run: fromRun({ ...run, status: statusAt(run, nowMs) }) };
    },

    async heartbeatEvidenceRun(context, { environmentId, runId, token }) {
      const { run, token: issued } = await service.heartbeat(context, environmentId, runId, token);
      return { run: fromRun(run, issued) };
    },

    async cancelEvidenceRun(context, { environmentId, runId, reason }) {
      const run = await service.cancelRun(context, environmentId, runId, reason);
      return { run: fromRun(run) };
    },
  } satisfies Partial<Handlers<typeof Rpc>>;
}

const fromRun = (run: Run, token = "") => ({
  ...run,
  token: token || undefined,
  possibleCalls: possibleRunCalls(run.status),
});
