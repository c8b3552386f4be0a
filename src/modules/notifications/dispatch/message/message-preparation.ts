import type { PlatformServices } from "../../../area.ts";
import type { Layouts } from "../../layouts/index.ts";
import type { Partials } from "../../partials/index.ts";
import { localizedContent, type NotificationWorkflow } from "../../preferences/index.ts";
import type { OutgoingMessage, Providers } from "../../providers/index.ts";
import type { Subscriber } from "../../subscribers/index.ts";
import { type Delivery, type DeliveryFailure, sendKey } from "../domain/delivery.ts";
import { contentOf, type Overrides, type Target } from "../domain/plan.ts";
import type { DigestValues } from "../domain/run.ts";
import { createIntegrationChooser, type IntegrationChooserParts } from "./integration-choice.ts";
import { type RenderedMessage, renderMessage, subscriberFacts } from "./message-renderer.ts";
import type { TemplateValues } from "./template-values.ts";

/** A message to send to one address. */
export interface SendRequest {
  readonly delivery: Pick<
    Delivery,
    "tenantId" | "id" | "transactionId" | "workflowKey" | "channel" | "keyGeneration" | "stepKey"
  >;
  readonly target: Target;
  readonly subscriber: Subscriber;
  readonly workflow: NotificationWorkflow | undefined;
  readonly overrides: Overrides;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The triggers that a digest collected; undefined without a digest. */
  readonly digest: DigestValues | undefined;
  /** The only integration that may send it, because it may already have done so; "" for any. */
  readonly onlyIntegrationId: string;
}

export type Route = Pick<Delivery, "integrationId" | "providerKey" | "connectionId" | "layoutId" | "layoutVersion">;

/** A message that was not sent, as far as the service knows. */
export interface FailedMessage extends Route {
  readonly kind: "failed";
  readonly providerAttempts: number;
  readonly failure: DeliveryFailure;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  /** The address if it is permanently unreachable, or else "". */
  readonly unreachableIdentity: string;
  /** Whether the provider may have it nevertheless. No other provider may receive it then. */
  readonly mayHaveArrived: boolean;
}

/** A message that the service stores itself. It counts as sent once it is stored. */
export interface StoredMessage extends Route {
  readonly kind: "stored";
  readonly providerAttempts: number;
  readonly as: "inbox" | "outbox";
  readonly message: RenderedMessage;
  readonly recipient: string;
}

/** A prepared message: to be stored, to be sent through a provider, or failed. */
export type PreparedMessage =
  | StoredMessage
  | FailedMessage
  | { readonly kind: "outgoing"; readonly route: Route; readonly message: OutgoingMessage };

/** The modules that messages are prepared with. */
export interface MessagePreparationParts extends Pick<PlatformServices, "log" | "shares">, IntegrationChooserParts {
  readonly clock: Pick<PlatformServices["clock"], "now">;
  readonly layouts: Pick<Layouts, "layoutFor" | "wrap">;
  readonly partials: Pick<Partials, "libraryOf">;
  readonly providers: Pick<Providers, "find">;
}

/** Selects the route of a message and renders it. Failures are returned, never thrown. */
export type MessagePreparer = (request: SendRequest, except?: ReadonlySet<string>) => Promise<PreparedMessage>;

const none: ReadonlySet<string> = new Set();

export function createMessagePreparer(dependencies: MessagePreparationParts): MessagePreparer {
  const { layouts, partials, providers, clock, log, shares } = dependencies;
  const choose = createIntegrationChooser(dependencies);

  return async (request, except = none) => {
    try {
      return await prepare(request, except);
    } catch (error) {
      log.error({ err: error, delivery_id: request.delivery.id }, "preparing a notification failed");
      return internalFailure();
    }
  };

  async function prepare(request: SendRequest, except: ReadonlySet<string>): Promise<PreparedMessage> {
    const { delivery, target, subscriber, payload, digest } = request;
    const { tenantId, channel, workflowKey: workflow_key, transactionId: transaction_id, stepKey } = delivery;
    const values: TemplateValues = {
      ...{ subscriber: subscriberFacts(subscriber), payload, workflow_key, transaction_id },
      ...(stepKey !== "" && { step: stepKey }),
      ...(digest !== undefined && { digest }),
    };
    const selected = await choose(request, values, except);
    if ("code" in selected)
      return { ...failedMessage(noRoute, selected), mayHaveArrived: request.onlyIntegrationId !== "" };
    const { id: integrationId, providerKey, casingOverride: casing } = selected;
    const stored = request.workflow?.channels[channel];
    const content = contentOf(
      stored && localizedContent(stored, subscriber.locale).content,
      request.overrides[channel],
    );
    const provider = await providers.find(tenantId, providerKey);
    const turns = shares.forCall(tenantId);
    const message = await renderMessage(layouts, {
      tenantId,
      channel,
      content,
      values,
      nowMs: clock.now(),
      subscriber,
      casing,
      markup: provider?.markup,
      partials: await partials.libraryOf(tenantId),
      turns,
    });
    const connectionId = provider?.needsConnection ? target.connectionId || selected.connectionId : "";
    const layout = "code" in message ? { layoutId: "", layoutVersion: 0 } : message;
    const { layoutId, layoutVersion } = layout;
    const route: Route = { integrationId, providerKey, connectionId, layoutId, layoutVersion };
    if ("code" in message) return failedMessage(route, message);
    if (providerKey === "in_app" || providerKey === "development") {
      const as = channel === "in_app" ? "inbox" : "outbox";
      return { ...route, kind: "stored", providerAttempts: 1, as, message, recipient: target.identity };
    }
    const { subject, title, text, html, data, attachments } = message;
    const to = { identity: target.identity, metadata: target.metadata };
    const texts = { subject, title, text, html, data, attachments };
    const outgoing = { deliveryId: delivery.id, key: sendKey(delivery), channel, to, ...texts };
    return { kind: "outgoing", route, message: outgoing };
  }
}

const internal: DeliveryFailure = { phase: "system", code: "internal", detail: "The service failed to send it." };

/** The route of a message that has none yet. */
export const noRoute: Route = { integrationId: "", providerKey: "", connectionId: "", layoutId: "", layoutVersion: 0 };

/** The failure of a message that was not handed over to a provider. */
export function failedMessage(route: Route, failure: DeliveryFailure): FailedMessage {
  return {
    ...route,
    kind: "failed",
    providerAttempts: 0,
    failure,
    retryable: false,
    retryAfterMs: undefined,
    unreachableIdentity: "",
    mayHaveArrived: false,
  };
}

/** The failure of a message that failed inside the service before it was handed over. */
export function internalFailure(): FailedMessage {
  return { ...failedMessage(noRoute, internal), retryable: true };
}
