import { type ExplainedStep, type ExplainedWait, type Explainer, linkTo } from "../../../explainer.ts";
import type { NotificationRun, RunReason, SkipReason, StepOutcome } from "../domain/run.ts";
import { runStore } from "./run-store.ts";

/** Explains runs: the outcome of each step, and what is waited for. */
export const runExplainer: Explainer = {
  kind: "notification_run",
  scope: "notification:read",
  async explain({ sql, tenantId }, { id }) {
    const run = await runStore(sql).find(tenantId, id);
    if (run === undefined) return undefined;
    return {
      status: run.status,
      summary: summaryOf(run),
      steps: [created(run), ...run.outcomes.map(stepOf), ...endOf(run)],
      waits: waitsOf(run),
      remedies: remediesOf(run),
      links: linksOf(run),
    };
  },
};

const reasonTexts: Readonly<Record<RunReason, string>> = {
  digested: "Its trigger became part of a digest.",
  throttled: "The subscriber has been notified too often within the window.",
  subscriber_not_found: "The subscriber does not exist.",
  subscriber_inactive: "The subscriber is not active.",
  payload_expired: "The payload has expired.",
  step_removed: "The workflow was deleted, or the step in which it waited was removed.",
  expression_error: "An expression of a step could not be evaluated.",
  cancelled: "The trigger was cancelled.",
  failed: "A step failed too often.",
};

const skipTexts: Readonly<Record<SkipReason, string>> = {
  condition_false: "its condition is false",
  condition_error: "its condition could not be evaluated",
  not_requested: "the trigger did not request its channels",
  not_allowed: "preferences do not allow its channels",
  no_address: "the subscriber has no address that can be used",
  no_message: "there is no inbox message to wait for",
};

function summaryOf({ status, reason, subscriberId, workflowKey, stepKey, wakeAt }: NotificationRun): string {
  const run = `The notification ${workflowKey} for the subscriber ${subscriberId}`;
  const why = reason === "" ? "" : ` ${reasonTexts[reason]}`;
  switch (status) {
    case "waiting":
      return stepKey === ""
        ? `${run} waits for a node that starts it.`
        : `${run} waits in the step ${stepKey} until ${wakeAt?.toISOString()}.`;
    case "running":
      return `${run} is in progress.`;
    case "collected":
      return `${run} waits in a digest that another run leads.`;
    case "completed":
      return `${run} has passed all its steps.${why}`;
    case "stopped":
      return `${run} was stopped.${why}`;
    case "cancelled":
      return `${run} was cancelled.`;
  }
}

function created({ createdAt, transactionId }: NotificationRun): ExplainedStep {
  return { at: createdAt, code: "created", message: `The trigger ${transactionId} started it.` };
}

function stepOf(outcome: StepOutcome): ExplainedStep {
  const { stepKey, kind, atMs } = outcome;
  return { at: new Date(atMs), code: kind, subject: stepKey, message: stepText(outcome) };
}

function stepText({ stepKey, outcome, reason, detail, untilMs, deliveryIds }: StepOutcome): string {
  const until = untilMs === undefined ? "" : ` until ${new Date(untilMs).toISOString()}`;
  const more = detail === undefined ? "" : ` ${detail}`;
  switch (outcome) {
    case "sent":
      return `${stepKey} created ${deliveryIds?.length ?? 0} messages.`;
    case "skipped":
      return `${stepKey} was skipped${reason === undefined ? "." : `: ${skipTexts[reason]}.`}${more}`;
    case "waiting":
      return `${stepKey} waits${until}.`;
    case "waited":
      return `${stepKey} waited${until}.`;
    case "collected":
      return `${stepKey} collected the trigger${until}.${more}`;
    case "passed":
      return `${stepKey} let it pass.`;
    case "throttled":
      return `${stepKey} stopped it.${more}`;
    case "seen":
    case "read":
      return `${stepKey} ended: the inbox message was ${outcome}.`;
    case "timed_out":
      return `${stepKey} ended: the inbox message was not seen or read in time.`;
  }
}

function endOf({ status, reason, updatedAt }: NotificationRun): ExplainedStep[] {
  if (status !== "completed" && status !== "stopped" && status !== "cancelled") return [];
  const message = reason === "" ? "It passed its last step." : reasonTexts[reason];
  return [{ at: updatedAt, code: status, message }];
}

function waitsOf({ status, stepKey, wakeAt, outcomes, leaderRunId, updatedAt }: NotificationRun): ExplainedWait[] {
  if (status === "collected") {
    const message = `It waits for the end of the digest that the run ${leaderRunId} leads.`;
    return [{ code: "waiting_for_digest", message, remedy: "It continues by itself.", since: updatedAt }];
  }
  if (status !== "waiting") return [];
  const kind = outcomes.findLast((each) => each.stepKey === stepKey)?.kind;
  const [code, message] =
    kind === undefined
      ? ["waiting_in_queue", "It waits for a node that starts it."]
      : [`waiting_in_${kind}`, `It waits in the step ${stepKey}.`];
  return [{ code, message, remedy: "It continues by itself.", since: updatedAt, until: wakeAt ?? undefined }];
}

function remediesOf({ status, reason, transactionId }: NotificationRun): string[] {
  if (status === "waiting" || status === "collected") {
    return [`To stop it: POST /api/v2/notifications/triggers/${transactionId}:cancel.`];
  }
  return reason === "expression_error"
    ? ["Correct the expression of the step, or the payload, then trigger again."]
    : [];
}

function linksOf({ id, subscriberId, transactionId, workflowKey, leaderRunId, outcomes }: NotificationRun) {
  const deliveries = outcomes.flatMap(({ deliveryIds }) => deliveryIds ?? []);
  return [
    ...linkTo("run", id, `/api/v2/notifications/runs/${id}`),
    ...linkTo("trigger", transactionId, `/api/v2/notifications/deliveries?transaction_id=${transactionId}`),
    ...linkTo("workflow", workflowKey, `/api/v2/notification/workflows/${workflowKey}`),
    ...linkTo("subscriber", subscriberId, `/api/v2/notification/subscribers/${subscriberId}`),
    ...linkTo("digest_leader", leaderRunId, `/api/v2/notifications/runs/${leaderRunId}`, true),
    ...deliveries.flatMap((each) => linkTo("delivery", each, `/api/v2/notifications/deliveries/${each}`, true)),
  ];
}
