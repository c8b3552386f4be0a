import type { Log } from "../../../../platform/log/log.ts";
import type { EventLoopShares } from "../../../../platform/scheduling/index.ts";
import type { Connections } from "../../../connectors/index.ts";
import type { Integration, Integrations, SelectionFault } from "../../integrations/index.ts";
import type { Layouts } from "../../layouts/index.ts";
import type { NotificationWorkflow } from "../../preferences/index.ts";
import { credentialCode, type OutgoingMessage, type Providers } from "../../providers/index.ts";
import type { Subscriber } from "../../subscribers/index.ts";
import { type Delivery, type DeliveryFailure, sendKey } from "../domain/delivery.ts";
import { contentOf, type Overrides, type Target } from "../domain/plan.ts";
import type { DigestValues } from "../domain/run.ts";
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

/** The integration, provider, connection and layout of a message. */
export interface Route {
  readonly integrationId: string;
  readonly providerKey: string;
  readonly connectionId: string;
  readonly layoutId: string;
  readonly layoutVersion: number;
}

/** A message that was not sent, as far as the service knows. */
export interface FailedMessage extends Route {
  readonly kind: "failed";
  readonly providerAttempts: number;
  readonly failure: DeliveryFailure;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly suppressEndpoint: boolean;
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

interface Parts {
  readonly integrations: Pick<Integrations, "choose" | "find">;
  readonly layouts: Pick<Layouts, "layoutFor" | "wrap">;
  readonly connections: Pick<Connections, "open">;
  readonly providers: Pick<Providers, "markupOf" | "needsConnection" | "acceptsAddress">;
  readonly log: Log;
  readonly shares: EventLoopShares;
  /** Whether messages that no integration serves are stored in the outbox. */
  readonly outbox: boolean;
}

/** The integration, or built-in provider, that sends a message. */
type SelectedIntegration = Pick<Integration, "id" | "providerKey" | "connectionId" | "casingOverride">;

/** Selects the route of a message and renders it. Failures are returned, never thrown. */
export type MessagePreparer = (request: SendRequest, except?: ReadonlySet<string>) => Promise<PreparedMessage>;

const none: ReadonlySet<string> = new Set();

/** Creates the message preparer. */
export function createMessagePreparer({
  integrations,
  layouts,
  connections,
  providers,
  log,
  shares,
  outbox,
}: Parts): MessagePreparer {
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
    const content = contentOf(request.workflow, request.overrides, channel);
    const markup = providers.markupOf(providerKey);
    const turns = shares.forCall(tenantId);
    const message = await renderMessage(layouts, {
      tenantId,
      channel,
      content,
      values,
      subscriber,
      casing,
      markup,
      turns,
    });
    const connectionId = providers.needsConnection(providerKey) ? target.connectionId || selected.connectionId : "";
    const layout = "code" in message ? { layoutId: "", layoutVersion: 0 } : message;
    const { layoutId, layoutVersion } = layout;
    const route: Route = { integrationId, providerKey, connectionId, layoutId, layoutVersion };
    if ("code" in message) return failedMessage(route, message);
    if (providerKey === "in_app" || providerKey === "development") {
      const as = channel === "in_app" ? "inbox" : "outbox";
      return { ...route, kind: "stored", providerAttempts: 1, as, message, recipient: target.identity };
    }
    const { subject, title, text, html, data } = message;
    const to = { identity: target.identity, metadata: target.metadata };
    const outgoing = { deliveryId: delivery.id, key: sendKey(delivery), channel, to, subject, title, text, html, data };
    return { kind: "outgoing", route, message: outgoing };
  }

  async function choose(
    { delivery, target, onlyIntegrationId }: SendRequest,
    values: TemplateValues,
    except: ReadonlySet<string>,
  ): Promise<SelectedIntegration | DeliveryFailure> {
    const { tenantId, channel } = delivery;
    if (onlyIntegrationId !== "") {
      const previous = await integrations.find(tenantId, onlyIntegrationId);
      return previous?.active
        ? previous
        : { ...unknown, detail: "The integration that may have sent the message was deleted or deactivated." };
    }
    const pinned = target.connectionId === "" ? undefined : await connections.open(tenantId, target.connectionId);
    if (typeof pinned === "string") {
      return {
        phase: "credential",
        code: credentialCode(pinned),
        detail: "The connection to which the address is pinned cannot be used.",
      };
    }
    const accepts = (providerKey: string) =>
      pinned === undefined ? providers.acceptsAddress(providerKey, target) : providerKey === pinned.providerKey;
    const choice = await integrations.choose(tenantId, channel, { ...values, channel }, except, accepts);
    if (typeof choice !== "string") return choice;
    if (choice === "none_active" && channel === "in_app") return { ...builtIn, providerKey: "in_app" };
    if (choice === "none_active" && outbox && except.size === 0) return { ...builtIn, providerKey: "development" };
    return { phase: "integration", code: choice, detail: unservedDetail(choice, target, pinned?.providerKey) };
  }
}

const builtIn = { id: "", connectionId: "", casingOverride: "" } as const;
const unknown = { phase: "provider", code: "outcome_unknown" } as const;

const unserved = {
  none_active: "No active integration serves the channel.",
  condition_no_match: "No integration of the channel has a condition that matches.",
  condition_error: "The condition of an integration of the channel cannot be evaluated.",
} as const;

function unservedDetail(fault: SelectionFault, { providerKey }: Target, pinnedTo: string | undefined): string {
  if (fault !== "none_active") return unserved[fault];
  if (pinnedTo !== undefined)
    return `No active integration of ${pinnedTo} serves the channel; the address is pinned to it.`;
  if (providerKey === "") return unserved.none_active;
  return `No active integration serves the channel for addresses with the provider_key ${providerKey}.`;
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
    suppressEndpoint: false,
    mayHaveArrived: false,
  };
}

/** The failure of a message that failed inside the service before it was handed over. */
export function internalFailure(): FailedMessage {
  return { ...failedMessage(noRoute, internal), retryable: true };
}
