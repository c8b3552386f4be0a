import type { NotificationService } from "../../../../../gen/service/api/notification_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { requireFound } from "../../../../platform/db/index.ts";
import type { StepOutcome } from "../domain/run.ts";
import type { createCancellation } from "./cancellation.ts";
import { type ListedRun, runStore } from "./run-store.ts";

/** NotificationService operations on runs. */
export function runHandlers(
  cancel: ReturnType<typeof createCancellation>,
): Pick<Handlers<typeof NotificationService>, "listNotificationRuns" | "getNotificationRun" | "cancelNotification"> {
  return {
    async listNotificationRuns(context, request) {
      const { transactionId } = request;
      const page = await context.page("runs", request, [transactionId], (wanted) =>
        runStore(context.sql).list(context.tenantId, transactionId, wanted),
      );
      return { ...page, runs: page.runs.map(fromRun) };
    },

    async getNotificationRun({ sql, tenantId }, { runId }) {
      const run = requireFound(await runStore(sql).find(tenantId, runId), "run");
      return { run: fromRun(run) };
    },

    cancelNotification: (context, { transactionId }) => cancel(context, transactionId),
  };
}

const fromRun = (run: ListedRun) => ({
  ...run,
  outcomes: run.outcomes.map(fromOutcome),
  digestCount: run.digest?.count ?? 0,
});

const fromOutcome = ({ untilMs, atMs, ...outcome }: StepOutcome) => ({
  ...{ reason: "", detail: "", deliveryIds: [], ...outcome },
  until: untilMs === undefined ? undefined : new Date(untilMs),
  at: new Date(atMs),
});
