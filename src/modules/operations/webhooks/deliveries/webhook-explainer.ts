import type { Context } from "../../../../chain/call.ts";
import { modeAllows } from "../../../../platform/access/index.ts";
import type { ExplainedLink, ExplainedStep, ExplainedWait, Explainer, RecordExplanation } from "../../../explainer.ts";
import type { Event, EventReader } from "../../events/index.ts";
import type { Attempt, Delivery } from "../domain/delivery.ts";
import type { Endpoint } from "../domain/endpoint.ts";
import { isSubscribed } from "../domain/fan-out.ts";
import { endpointStore } from "../endpoints/endpoint-store.ts";
import { deliveryStore } from "./delivery-store.ts";

/** An endpoint with what it got of an event. */
interface Destination {
  readonly endpoint: Endpoint;
  readonly delivery: Delivery | undefined;
}

/** Explains the deliveries of an event to webhook endpoints. The id is the event's, or that of a message: event_endpoint. */
export function createWebhookExplainer(reader: Pick<EventReader, "findMany">): Explainer {
  return {
    kind: "webhook_delivery",
    scope: "webhook:read",
    async explain(context, { id, about }) {
      const [eventId = "", endpointId = about] = id.split("_");
      const { sql, tenantId, principal } = context;
      const deliveries = await deliveryStore(sql).findByEvent(tenantId, eventId);
      const [event] = await reader.findMany(sql, [{ tenantId, id: eventId }]);
      if (event === undefined && deliveries.length === 0) return undefined;
      if (event !== undefined && !modeAllows(principal.environmentMode, event.inProduction)) return undefined;
      const found = await destinationsOf(context, deliveries, endpointId);
      return found.length === 0 ? undefined : explainDestinations(eventId, event, found);
    },
  };
}

/** The endpoints that the question is about. */
async function destinationsOf(
  { sql, tenantId, principal }: Context,
  deliveries: readonly Delivery[],
  endpointId: string,
): Promise<readonly Destination[]> {
  const endpoints = await endpointStore(sql).findAll(tenantId, principal.environmentMode);
  const byEndpoint = new Map(deliveries.map((delivery) => [delivery.endpointId, delivery]));
  return endpoints
    .filter(({ id }) => endpointId === "" || id === endpointId)
    .map((endpoint) => ({ endpoint, delivery: byEndpoint.get(endpoint.id) }));
}

function explainDestinations(
  eventId: string,
  event: Event | undefined,
  destinations: readonly Destination[],
): RecordExplanation {
  const sent = destinations.flatMap(({ delivery }) => (delivery === undefined ? [] : [delivery]));
  return {
    status: statusOf(sent),
    summary: destinations.map((each) => sentenceOf(each, event)).join(" "),
    steps: destinations.flatMap(stepsOf).sort((a, b) => (a.at?.getTime() ?? 0) - (b.at?.getTime() ?? 0)),
    waits: sent.flatMap(waitOf),
    remedies: destinations.flatMap((each) => remediesOf(each, eventId)),
    links: [
      ...(event === undefined ? [] : [{ relation: "event", id: eventId, path: `/api/events/${eventId}` }]),
      ...destinations.flatMap((each) => linksOf(each, eventId)),
    ],
  };
}

/** The status of all deliveries together: that of the one that needs most attention. */
function statusOf(deliveries: readonly Delivery[]): string {
  const order = ["failed", "pending", "cancelled", "succeeded"] as const;
  return order.find((status) => deliveries.some((delivery) => delivery.status === status)) ?? "not_sent";
}

function sentenceOf({ endpoint, delivery }: Destination, event: Event | undefined): string {
  const name = `The endpoint ${endpoint.id}`;
  if (delivery === undefined) return `${name} does not get the event: ${whyNot(endpoint, event)}`;
  const attempts = delivery.attemptCount === 1 ? "1 attempt" : `${delivery.attemptCount} attempts`;
  const last = delivery.attemptLog.at(-1);
  const cause = last === undefined || last.failure === "" ? "" : `, the last failure was ${failureText(last)}`;
  switch (delivery.status) {
    case "succeeded":
      return `${name} accepted the event after ${attempts}.`;
    case "pending":
      return `${name} has not accepted the event yet: ${attempts}${cause}.`;
    case "failed":
      return `${name} did not get the event: ${attempts}${cause}.`;
    case "cancelled":
      return `${name} did not get the event: the delivery was cancelled because the endpoint was disabled.`;
  }
}

function whyNot(endpoint: Endpoint, event: Event | undefined): string {
  if (endpoint.status === "disabled") return `it is disabled (${endpoint.disabledReason}).`;
  if (event === undefined) return "there is no delivery, and the event is no longer in the log.";
  if (!isSubscribed(endpoint, event)) return `it is not subscribed to ${event.type} in the environment of the event.`;
  if (event.time < endpoint.createdAt) return "it was created after the event.";
  return "it was not active when the event was recorded, or the delivery is about to be created.";
}

const failureTexts: Readonly<Record<Exclude<Attempt["failure"], "" | "status">, string>> = {
  denied: "the address is not allowed",
  invalid_url: "the URL is invalid",
  dns: "the host name cannot be resolved",
  connect: "the connection was refused",
  tls: "the TLS handshake failed",
  timeout: "there was no response in time",
  connection_lost: "the connection was lost",
  event_forgotten: "the event is no longer in the log",
  secret_unreadable: "the signing secret cannot be decrypted",
  transform: "the template of the body failed",
};

function failureText({ failure, response_status }: Attempt): string {
  if (failure === "") return "none";
  return failure === "status" ? `the status ${response_status}` : failureTexts[failure];
}

function stepsOf({ endpoint, delivery }: Destination): readonly ExplainedStep[] {
  if (delivery === undefined) return [];
  const subject = endpoint.id;
  const attempts = delivery.attemptLog.map((attempt) => ({
    ...{ at: new Date(attempt.at), code: attempt.failure === "" ? "accepted" : "attempt_failed", subject },
    message:
      attempt.failure === ""
        ? `The endpoint accepted the message with the status ${attempt.response_status} after ${attempt.duration_ms} ms.`
        : `An attempt failed after ${attempt.duration_ms} ms: ${failureText(attempt)}.`,
  }));
  return [{ at: delivery.createdAt, code: "created", subject, message: "The delivery was created." }, ...attempts];
}

function waitOf({ status, endpointId, nextAttemptAt, attemptCount }: Delivery): readonly ExplainedWait[] {
  if (status !== "pending") return [];
  const message = `The delivery to ${endpointId} waits for ${attemptCount === 0 ? "its first" : "the next"} attempt.`;
  return [
    { code: "waiting_for_attempt", message, remedy: "It continues by itself.", until: nextAttemptAt ?? undefined },
  ];
}

function remediesOf({ endpoint, delivery }: Destination, eventId: string): readonly string[] {
  const path = `/api/v2/webhooks/endpoints/${endpoint.id}`;
  if (endpoint.status === "disabled")
    return [`Correct the endpoint, then enable it: PATCH ${path} with status active.`];
  if (delivery?.status !== "failed") return [];
  return [`Correct the endpoint, then send the event again: POST ${path}/deliveries/${eventId}:replay.`];
}

function linksOf({ endpoint, delivery }: Destination, eventId: string): readonly ExplainedLink[] {
  const path = `/api/v2/webhooks/endpoints/${endpoint.id}`;
  const link = { relation: "endpoint", id: endpoint.id, path };
  return delivery === undefined
    ? [link]
    : [link, { relation: "delivery", id: eventId, path: `${path}/deliveries/${eventId}` }];
}
