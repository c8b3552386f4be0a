import assert from "node:assert/strict";
import type { TestSql } from "../harness/postgres-server.ts";
import { until } from "../harness/until.ts";
import type { ResponseData, Sender } from "./sender-fixture.ts";

/** A workflow with an inbox message, a mail and a text message. */
export const contents = {
  in_app: { title: "T", body: "Order {{ payload.order }}" },
  email: { subject: "Order {{ payload.order }}", body: "<p>{{ step }}</p>" },
  sms: { body: "{{ payload.order }}" },
};

/** Helpers for workflows with steps. */
export function steppedFixture(sender: Sender, sql: TestSql) {
  const run = async (id: string): Promise<ResponseData> =>
    (await sender.ok("GET", `/api/v2/notifications/runs/${id}`)).data;

  return {
    run,

    /** Stores a workflow with steps; returns its key. */
    workflow: (steps: readonly object[], channels: object = contents) => sender.workflow({ channels, steps }),

    /** Reads a run until it reaches a status, in a step if one is named. */
    runIn: (id: string, status: string, step?: string): Promise<ResponseData> =>
      until(
        () => run(id),
        (each) => each.status === status && (step === undefined || each.step_key === step),
      ),

    /** Ends the wait of a run now. */
    async wake(runId: string): Promise<void> {
      const { count } = await sql`
        update notification_runs set wake_at = now() where id = ${runId} and status = 'waiting'`;
      assert.equal(count, 1, "the run waits");
    },

    /** Cancels what a trigger has not sent yet. */
    cancel: async (transactionId: string): Promise<ResponseData> =>
      (await sender.ok("POST", `/api/v2/notifications/triggers/${transactionId}:cancel`, {})).data,

    /** Reads the deliveries of a trigger until none is in progress. */
    settled: (transactionId: string): Promise<ResponseData[]> =>
      until(
        () => sender.deliveries(`transaction_id=${transactionId}`),
        (found) => found.every(({ status }) => status !== "queued" && status !== "running"),
      ),

    /** The outbox messages of a workflow, oldest first. */
    async outbox(workflowKey: string): Promise<ResponseData[]> {
      const { data } = await sender.ok("GET", "/api/v2/notification/outbox?limit=1000");
      return data.filter((each: ResponseData) => each.workflow_key === workflowKey).reverse();
    },
  };
}

/** The outcome of each step of a run, with the reason if there is one. */
export function outcomesOf({ outcomes }: ResponseData): string[] {
  return outcomes.map(({ step_key, outcome, reason }: ResponseData) =>
    [step_key, outcome, reason].filter((part) => part !== "").join(" "),
  );
}
