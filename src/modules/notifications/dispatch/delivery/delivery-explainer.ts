import { type ExplainedStep, type ExplainedWait, type Explainer, linkTo } from "../../../explainer.ts";
import type { Delivery } from "../domain/delivery.ts";
import { channelNames } from "../domain/plan.ts";
import { describePreference } from "../domain/preference-text.ts";
import { type Observation, observationStore } from "../observations/observation-store.ts";
import { deliveryStore } from "./delivery-store.ts";

/** How many observations are shown. */
const observationsMax = 50;

/** Explains notification deliveries: the preferences that applied, the attempts, and what was observed afterwards. */
export const deliveryExplainer: Explainer = {
  kind: "notification_delivery",
  scope: "notification:read",
  async explain({ sql, tenantId }, { id }) {
    const delivery = await deliveryStore(sql).find(tenantId, id);
    if (delivery === undefined) return undefined;
    const page = { fetch: observationsMax, offset: 0, after: undefined };
    const { rows } = await observationStore(sql).list(tenantId, id, page);
    return {
      status: delivery.status,
      summary: describeDelivery(delivery),
      steps: stepsOf(delivery, rows),
      waits: waitsOf(delivery),
      remedies: remediesOf(delivery),
      links: linksOf(delivery),
    };
  },
};

function preferenceText({ preferenceReasonCode, preferenceWinningLayer }: Delivery): string {
  return describePreference(preferenceReasonCode, preferenceWinningLayer ?? 0);
}

function failureText({ failurePhase, failureCode, failureDetail }: Delivery): string {
  return `${failurePhase} ${failureCode}${failureDetail === "" ? "." : `: ${failureDetail}`}`;
}

/** Says in words what became of a delivery. */
export function describeDelivery(delivery: Delivery): string {
  const { channel, status, subscriberId, failureCode, executionAttempt, maxAttempts, observationState } = delivery;
  const message = `The ${channelNames[channel]} message to the subscriber ${subscriberId}`;
  switch (status) {
    case "skipped":
      return `${message} was not sent. ${failureCode === "" ? preferenceText(delivery) : `Reason: ${failureText(delivery)}`}`;
    case "failed":
      return `${message} failed. Reason: ${failureText(delivery)}`;
    case "sent":
      return `${message} was accepted by ${delivery.providerKey || "the inbox"}. ${observationTexts[observationState]}`;
    case "running":
      return `${message} is being sent, attempt ${executionAttempt} of ${maxAttempts}.`;
    case "queued":
      if (delivery.preferenceReasonCode === "held_quiet_hours")
        return `${message} is held. ${preferenceText(delivery)}`;
      return failureCode === ""
        ? `${message} waits to be sent.`
        : `${message} waits for attempt ${executionAttempt + 1} of ${maxAttempts}. The last one failed: ${failureText(delivery)}`;
  }
}

const observationTexts: Readonly<Record<Delivery["observationState"], string>> = {
  not_expected: "No further report is expected.",
  awaiting: "Nothing is known yet about its arrival.",
  delivered: "It arrived.",
  engaged: "It arrived, and the recipient reacted.",
  undelivered: "It did not arrive.",
  complained: "The recipient complained.",
  unknown: "Whether it arrived is unknown.",
};

function stepsOf(delivery: Delivery, observations: readonly Observation[]): readonly ExplainedStep[] {
  const { queuedAt, startedAt, sentAt, completedAt, status, failureCode, executionAttempt } = delivery;
  const steps: ExplainedStep[] = [
    { at: queuedAt, code: "created", message: `The trigger ${delivery.transactionId} created it.` },
    { at: queuedAt, code: "preference", message: preferenceText(delivery) },
  ];
  if (startedAt !== null) steps.push({ at: startedAt, code: "started", message: "The first attempt started." });
  if (executionAttempt > 1) steps.push({ code: "attempts", message: `${executionAttempt} attempts were made so far.` });
  if (failureCode !== "") {
    const code = status === "queued" ? "attempt_failed" : status;
    steps.push({ at: completedAt ?? undefined, code, message: `Reason: ${failureText(delivery)}` });
  } else if (status === "skipped")
    steps.push({ at: completedAt ?? undefined, code: status, message: "It was not sent." });
  if (sentAt !== null) steps.push({ at: sentAt, code: "sent", message: "It was accepted." });
  const observed = observations.map(({ occurredAt, kind, severity }) => ({
    ...{ at: occurredAt, code: kind },
    message: `The provider reported: ${kind}${severity === "" ? "" : ` (${severity})`}.`,
  }));
  return [...steps, ...observed];
}

function waitsOf({
  status,
  nextAttemptAt,
  failureCode,
  startedAt,
  observationState,
  sentAt,
  preferenceReasonCode,
}: Delivery): ExplainedWait[] {
  if (status === "queued") {
    const isHeld = preferenceReasonCode === "held_quiet_hours";
    const [code, message] = isHeld
      ? ["waiting_for_quiet_hours", "It waits for the end of quiet hours."]
      : failureCode === ""
        ? ["waiting_in_queue", "It waits for a node that sends it."]
        : ["waiting_for_retry", "It waits for its next attempt."];
    return [{ code: code!, message: message!, remedy: "It continues by itself.", until: nextAttemptAt ?? undefined }];
  }
  if (status === "running") {
    const message = "It waits for the provider.";
    return [
      { code: "waiting_for_provider", message, remedy: "It continues by itself.", since: startedAt ?? undefined },
    ];
  }
  if (status !== "sent" || observationState !== "awaiting") return [];
  const remedy = "Check that the provider's callbacks reach the service.";
  return [
    { code: "waiting_for_report", message: "It waits for the provider's report.", remedy, since: sentAt ?? undefined },
  ];
}

function remediesOf({ status, failurePhase, subscriberId, reconciliationRequired, deadLetterId }: Delivery): string[] {
  const remedies: string[] = [];
  if (reconciliationRequired) remedies.push("Check at the provider whether it arrived, before it is sent again.");
  if (status === "failed" && deadLetterId !== "") {
    remedies.push(`Correct the cause, then redrive: POST /api/v2/notifications/dead-letters/${deadLetterId}:redrive.`);
  }
  if (status === "skipped" && failurePhase === "") {
    remedies.push(`See the preferences: GET /api/v2/notification/subscribers/${subscriberId}/preferences.`);
  }
  if (failurePhase === "endpoint") {
    remedies.push(`Add an address: POST /api/v2/notification/subscribers/${subscriberId}/endpoints.`);
  }
  return remedies;
}

function linksOf({
  id,
  subscriberId,
  integrationId,
  connectionId,
  broadcastId,
  transactionId,
  deadLetterId,
  runId,
}: Delivery) {
  const subscribers = "/api/v2/notification/subscribers";
  return [
    ...linkTo("delivery", id, `/api/v2/notifications/deliveries/${id}`),
    ...linkTo("subscriber", subscriberId, `${subscribers}/${subscriberId}`),
    ...linkTo("preferences", subscriberId, `${subscribers}/${subscriberId}/preferences`),
    ...linkTo("trigger", transactionId, `/api/v2/notifications/deliveries?transaction_id=${transactionId}`),
    ...linkTo("run", runId, `/api/v2/notifications/runs/${runId}`, true),
    ...linkTo("broadcast", broadcastId, `/api/v2/notifications/broadcasts/${broadcastId}`),
    ...linkTo("integration", integrationId, `/api/v2/notification/integrations/${integrationId}`),
    ...linkTo("connection", connectionId, `/api/v2/connector/connections/${connectionId}`),
    ...linkTo("dead_letter", deadLetterId, "/api/v2/notifications/dead-letters"),
  ];
}
