import { create } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  CancelNotificationResponseSchema,
  GetNotificationRunResponseSchema,
  ListNotificationRunsResponseSchema,
  NotificationRunSchema,
  type NotificationService,
  type NotificationRun as RunMessage,
} from "../../../../../gen/service/api/notification_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { notFound } from "../../../../platform/db/index.ts";
import { readPage } from "../../../../platform/paging/index.ts";
import { optionalTime } from "../../../../platform/records/index.ts";
import type { StepOutcome } from "../domain/run.ts";
import type { createCancellation } from "./cancellation.ts";
import { type ListedRun, runStore } from "./run-store.ts";

interface Dependencies {
  readonly cursors: Cursors;
  readonly cancel: ReturnType<typeof createCancellation>;
}

/** NotificationService operations on runs. */
export function runHandlers({
  cursors,
  cancel,
}: Dependencies): Pick<
  Handlers<typeof NotificationService>,
  "listNotificationRuns" | "getNotificationRun" | "cancelNotification"
> {
  return {
    async listNotificationRuns({ sql, tenantId, operation }, request) {
      const { transactionId } = request;
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [transactionId] },
        (run: ListedRun) => run.id,
        (wanted) => runStore(sql).list(tenantId, transactionId, wanted),
      );
      return create(ListNotificationRunsResponseSchema, { ...page, runs: page.items.map(fromRun) });
    },

    async getNotificationRun({ sql, tenantId }, { runId }) {
      const run = await runStore(sql).find(tenantId, runId);
      if (run === undefined) throw notFound("run");
      return create(GetNotificationRunResponseSchema, { run: fromRun(run) });
    },

    async cancelNotification(context, { transactionId }) {
      return create(CancelNotificationResponseSchema, await cancel(context, transactionId));
    },
  };
}

function fromRun(run: ListedRun): RunMessage {
  const { tenantId, id, transactionId, workflowKey, subscriberId, topicKey, status, reason, stepKey, leaderRunId } =
    run;
  return create(NotificationRunSchema, {
    ...{ tenantId, id, transactionId, workflowKey, subscriberId, topicKey, status, reason, stepKey, leaderRunId },
    wakeAt: optionalTime(run.wakeAt),
    outcomes: run.outcomes.map(fromOutcome),
    digestCount: run.digest?.count ?? 0,
    createdAt: timestampFromDate(run.createdAt),
    updatedAt: timestampFromDate(run.updatedAt),
  });
}

function fromOutcome({ stepKey, kind, outcome, reason, detail, untilMs, deliveryIds, atMs }: StepOutcome) {
  return {
    ...{ stepKey, kind, outcome, reason: reason ?? "", detail: detail ?? "" },
    until: untilMs === undefined ? undefined : timestampFromMs(untilMs),
    deliveryIds: [...(deliveryIds ?? [])],
    at: timestampFromMs(atMs),
  };
}
