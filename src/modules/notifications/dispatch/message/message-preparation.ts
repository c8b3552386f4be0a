import type { Log } from "../../../../platform/log/log.ts";
import type { EventLoopShares } from "../../../../platform/scheduling/index.ts";
import type { Connections } from "../../../connectors/index.ts";
import type { Integration, Integrations, SelectionFault } from "../../integrations/index.ts";
import type { Layouts } from "../../layouts/index.ts";
import type { NotificationWorkflow } from "../../preferences/index.ts";
import type { OutgoingMessage, Providers } from "../../providers/index.ts";
import type { Subscriber } from "../../subscribers/index.ts";
import { type Delivery, type DeliveryFailure, sendKey } from "../domain/delivery.ts";
import { contentOf, type Overrides, type Target } from "../domain/plan.ts";
import { type Rendered, render, subscriberFacts } from "./message-renderer.ts";
import type { TemplateValues } from "./template-values.ts";

/** A message on its way to one address. */
export interface Work {
  readonly delivery: Pick<Delivery, "tenantId" | "id" | "transactionId" | "workflowKey" | "channel" | "keyGeneration">;
  readonly target: Target;
  readonly subscriber: Subscriber;
  readonly workflow: NotificationWorkflow | undefined;
  readonly overrides: Overrides;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The only integration that may send it, since it may have done so before; "" for any. */
  readonly onlyBy: string;
}

/** By which way a message went, or was to go. */
export interface Way {
  readonly integrationId: string;
  readonly providerKey: string;
  readonly connectionId: string;
  readonly layoutId: string;
  readonly layoutVersion: number;
}

/** A message that was not sent, as far as anybody can tell. */
export interface NotSent extends Way {
  readonly kind: "failed";
  readonly providerAttempts: number;
  readonly failure: DeliveryFailure;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly suppressEndpoint: boolean;
  /** Whether a provider may have it all the same: nobody else may be given it then. */
  readonly mayHaveArrived: boolean;
}

/** A message that the service keeps itself: it is sent when that is written down. */
export interface Kept extends Way {
  readonly kind: "kept";
  readonly providerAttempts: number;
  readonly as: "inbox" | "outbox";
  readonly message: Rendered;
  readonly recipient: string;
}

/** A message that is ready: to be kept at once, to be given to a provider, or not to be sent at all. */
export type Prepared =
  | Kept
  | NotSent
  | { readonly kind: "outgoing"; readonly way: Way; readonly message: OutgoingMessage };

interface Parts {
  readonly integrations: Pick<Integrations, "choose" | "find">;
  readonly layouts: Pick<Layouts, "layoutFor" | "wrap">;
  readonly connections: Pick<Connections, "open">;
  readonly providers: Pick<Providers, "markupOf" | "needsConnection" | "understands">;
  readonly log: Log;
  readonly shares: EventLoopShares;
  /** Whether what no integration serves is kept in the outbox for developers to see. */
  readonly outbox: boolean;
}

/** What a message is sent by. */
type Chosen = Pick<Integration, "id" | "providerKey" | "connectionId" | "casingOverride">;

/** Chooses the way of a message and puts it into words; whatever goes wrong is an answer and no error. */
export type Prepare = (work: Work, except?: ReadonlySet<string>) => Promise<Prepared>;

const none: ReadonlySet<string> = new Set();

/** Makes what prepares messages. */
export function createPrepare({ integrations, layouts, connections, providers, log, shares, outbox }: Parts): Prepare {
  return async (work, except = none) => {
    try {
      return await prepare(work, except);
    } catch (error) {
      log.error({ err: error, delivery_id: work.delivery.id }, "a notification could not be prepared");
      return failedWithin();
    }
  };

  async function prepare(work: Work, except: ReadonlySet<string>): Promise<Prepared> {
    const { delivery, target, subscriber, payload } = work;
    const { tenantId, channel, workflowKey: workflow_key, transactionId: transaction_id } = delivery;
    const values: TemplateValues = { subscriber: subscriberFacts(subscriber), payload, workflow_key, transaction_id };
    const chosen = await choose(work, values, except);
    if ("code" in chosen) return { ...notSent(noWay, chosen), mayHaveArrived: work.onlyBy !== "" };
    const { id: integrationId, providerKey, casingOverride: casing } = chosen;
    const content = contentOf(work.workflow, work.overrides, channel);
    const markup = providers.markupOf(providerKey);
    const turns = shares.forCall(tenantId);
    const message = await render(layouts, { tenantId, channel, content, values, subscriber, casing, markup, turns });
    const connectionId = providers.needsConnection(providerKey) ? target.connectionId || chosen.connectionId : "";
    const layout = "code" in message ? { layoutId: "", layoutVersion: 0 } : message;
    const { layoutId, layoutVersion } = layout;
    const way: Way = { integrationId, providerKey, connectionId, layoutId, layoutVersion };
    if ("code" in message) return notSent(way, message);
    if (providerKey === "in_app" || providerKey === "development") {
      const as = channel === "in_app" ? "inbox" : "outbox";
      return { ...way, kind: "kept", providerAttempts: 1, as, message, recipient: target.identity };
    }
    const { subject, title, text, html, data } = message;
    const to = { identity: target.identity, metadata: target.metadata };
    const outgoing = { deliveryId: delivery.id, key: sendKey(delivery), channel, to, subject, title, text, html, data };
    return { kind: "outgoing", way, message: outgoing };
  }

  async function choose(
    { delivery, target, onlyBy }: Work,
    values: TemplateValues,
    except: ReadonlySet<string>,
  ): Promise<Chosen | DeliveryFailure> {
    const { tenantId, channel } = delivery;
    if (onlyBy !== "") {
      const before = await integrations.find(tenantId, onlyBy);
      return before?.active ? before : { ...unknown, detail: "The integration that may have sent it is gone." };
    }
    const pinned = target.connectionId === "" ? undefined : await connections.open(tenantId, target.connectionId);
    if (typeof pinned === "string") {
      return {
        phase: "credential",
        code: pinned,
        detail: "The connection that the address is pinned to cannot be used.",
      };
    }
    const accepts = (providerKey: string) =>
      pinned === undefined ? providers.understands(providerKey, target) : providerKey === pinned.providerKey;
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
  condition_no_match: "No integration of the channel has a condition that holds.",
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

/** Of a message that has not got a way. */
export const noWay: Way = { integrationId: "", providerKey: "", connectionId: "", layoutId: "", layoutVersion: 0 };

/** What is told of a message that no provider was given. */
export function notSent(way: Way, failure: DeliveryFailure): NotSent {
  return {
    ...way,
    kind: "failed",
    providerAttempts: 0,
    failure,
    retryable: false,
    retryAfterMs: undefined,
    suppressEndpoint: false,
    mayHaveArrived: false,
  };
}

/** What is told of a message that the service itself failed with before anybody was given it. */
export function failedWithin(): NotSent {
  return { ...notSent(noWay, internal), retryable: true };
}
