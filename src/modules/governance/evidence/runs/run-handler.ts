import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  CancelEvidenceRunResponseSchema,
  type EvidenceRun,
  EvidenceRunSchema,
  GetEvidenceRunResponseSchema,
  HeartbeatEvidenceRunResponseSchema,
  ListEvidenceRunsResponseSchema,
  type RolloutEvidenceService as Rpc,
  StartEvidenceRunResponseSchema,
} from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { readPage } from "../../../../platform/paging/index.ts";
import { optionalTime, stampFields } from "../../../../platform/records/index.ts";
import { databaseNow } from "../database-time.ts";
import { type Run, type RunMode, statusAt } from "../domain/run.ts";
import { possibleRunCalls } from "../domain/run-states.ts";
import type { ReceiptType } from "../domain/subject.ts";
import type { PackChanges } from "../packs/pack-changes.ts";
import { fromSubject } from "../receipts/receipt-message.ts";
import type { RunService } from "./run-service.ts";
import { runStore } from "./run-store.ts";

interface Dependencies {
  readonly service: RunService;
  readonly changes: PackChanges;
  readonly cursors: Cursors;
}

type RunMethods =
  | "startEvidenceRun"
  | "listEvidenceRuns"
  | "getEvidenceRun"
  | "heartbeatEvidenceRun"
  | "cancelEvidenceRun";

export function runHandlers({ service, changes, cursors }: Dependencies): Pick<Handlers<typeof Rpc>, RunMethods> {
  return {
    async startEvidenceRun(context, request) {
      const { environmentId, packId, claim, leaseS, deadlineS } = request;
      const input = { type: request.type as ReceiptType, mode: request.mode as RunMode, claim, leaseS, deadlineS };
      const { run, token } = await service.startRun(context, environmentId, packId, input);
      return create(StartEvidenceRunResponseSchema, { run: fromRun(run, token) });
    },

    async listEvidenceRuns(context, request) {
      const { tenantId, sql, operation } = context;
      const { id: packId } = await changes.find(context, request.environmentId, request.packId);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [packId] },
        ({ id }: Run) => id,
        (wanted) => runStore(sql).list(tenantId, packId, wanted),
      );
      const nowMs = (await databaseNow(sql)).getTime();
      const runs = page.items.map((run) => fromRun({ ...run, status: statusAt(run, nowMs) }));
      return create(ListEvidenceRunsResponseSchema, { ...page, runs });
    },

    async getEvidenceRun(context, { environmentId, runId }) {
      const run = await service.getRun(context, environmentId, runId);
      const nowMs = (await databaseNow(context.sql)).getTime();
      return create(GetEvidenceRunResponseSchema, { run: fromRun({ ...run, status: statusAt(run, nowMs) }) });
    },

    async heartbeatEvidenceRun(context, { environmentId, runId, token }) {
      const { run, token: issued } = await service.heartbeat(context, environmentId, runId, token);
      return create(HeartbeatEvidenceRunResponseSchema, { run: fromRun(run, issued) });
    },

    async cancelEvidenceRun(context, { environmentId, runId, reason }) {
      const run = await service.cancelRun(context, environmentId, runId, reason);
      return create(CancelEvidenceRunResponseSchema, { run: fromRun(run) });
    },
  };
}

function fromRun(run: Run, token = ""): EvidenceRun {
  const { id, tenantId, environmentId, packId, candidateId, type, mode, status, fence, reason, receiptId } = run;
  return create(EvidenceRunSchema, {
    ...{ id, tenantId, environmentId, packId, candidateId, type, mode, status, fence, reason, receiptId },
    ...(token !== "" && { token }),
    subjects: run.subjects.map(fromSubject),
    leaseUntil: optionalTime(run.leaseUntil),
    deadlineAt: timestampFromDate(run.deadlineAt),
    endedAt: optionalTime(run.endedAt),
    possibleCalls: [...possibleRunCalls(status)],
    ...stampFields(run),
  });
}
