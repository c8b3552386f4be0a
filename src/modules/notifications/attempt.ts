import type { Clock } from "../../platform/clock/clock.ts";
import type { Log } from "../../platform/log/log.ts";
import type { Connectors } from "../connectors/index.ts";
import type { Integration, Integrations } from "../integrations/index.ts";
import type { Layouts } from "../layouts/index.ts";
import type { NotificationWorkflow } from "../preferences/index.ts";
import type { OutgoingMessage, Providers } from "../providers/index.ts";
import type { Subscriber } from "../subscribers/index.ts";
import type { Delivery, DeliveryFailure } from "./domain/delivery.ts";
import { contentOf, type Overrides, type Target } from "./domain/plan.ts";
import { type Rendered, render, subscriberFacts, type TemplateValues } from "./rendering.ts";

/** A message on its way to one address. */
export interface Work {
  readonly delivery: Pick<Delivery, "tenantId" | "id" | "transactionId" | "workflowKey" | "channel">;
  readonly target: Target;
  readonly subscriber: Subscriber;
  readonly workflow: NotificationWorkflow | undefined;
  readonly overrides: Overrides;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** By which way a message went, or was to go. */
export interface Way {
  readonly integrationId: string;
  readonly providerKey: string;
  readonly connectionId: string;
  readonly layoutId: string;
  readonly layoutVersion: number;
}

/** What came of trying to send a message. */
export type Attempted = Way & { readonly providerAttempts: number } & (
    | { readonly kind: "sent"; readonly providerMessageId: string; readonly observed: boolean }
    /** Kept by the service itself: it is sent when this is written down. */
    | { readonly kind: "kept"; readonly as: "inbox" | "outbox"; readonly message: Rendered; readonly recipient: string }
    | {
        readonly kind: "failed";
        readonly failure: DeliveryFailure;
        readonly retryable: boolean;
        readonly retryAfterMs: number | undefined;
        readonly suppressEndpoint: boolean;
      }
  );

/** A message that is ready: to be kept at once, to be given to a provider, or not to be sent at all. */
export type Prepared =
  | Exclude<Attempted, { kind: "sent" }>
  | { readonly kind: "outgoing"; readonly way: Way; readonly message: OutgoingMessage };

/** What sends messages stand on. */
export interface AttemptParts {
  readonly integrations: Pick<Integrations, "choose">;
  readonly connectors: Pick<Connectors, "open">;
  readonly providers: Pick<Providers, "send">;
  readonly layouts: Pick<Layouts, "layoutFor" | "wrap">;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether what no integration serves is kept in the outbox for developers to see. */
  readonly outbox: boolean;
}

const integrationsMax = 5;
/** After this long a message is given up for this time: whoever waits for the answer has waited enough. */
const attemptMsMax = 25_000;
/** After this long no further integration is tried. */
const failoverMsMax = 15_000;

/** Sends messages. */
export type Attempting = ReturnType<typeof createAttempting>;

/** Makes what sends messages. */
export function createAttempting(parts: AttemptParts) {
  const { integrations, connectors, providers, layouts, clock, log, outbox } = parts;

  /** Chooses the way of a message and puts it into words. */
  async function prepare(work: Work, except: ReadonlySet<string>): Promise<Prepared> {
    const { delivery, target, subscriber, payload } = work;
    const { tenantId, channel, workflowKey, transactionId } = delivery;
    const values: TemplateValues = {
      subscriber: subscriberFacts(subscriber),
      payload,
      workflow_key: workflowKey,
      transaction_id: transactionId,
    };
    const choice = await integrations.choose(tenantId, channel, { ...values, channel }, except);
    const chosen = typeof choice === "string" ? fallback(choice) : choice;
    if (chosen === undefined) {
      const failure = { phase: "integration", code: choice as string, detail: unserved(choice as string) };
      return notSent(noWay, failure as DeliveryFailure);
    }
    const content = contentOf(work.workflow, work.overrides, channel);
    const message = await render(layouts, {
      tenantId,
      channel,
      content,
      values,
      subscriber,
      casing: chosen.casingOverride,
    });
    const way: Way = {
      integrationId: chosen.id,
      providerKey: chosen.providerKey,
      connectionId: target.connectionId || chosen.connectionId,
      layoutId: "layoutId" in message ? message.layoutId : "",
      layoutVersion: "layoutId" in message ? message.layoutVersion : 0,
    };
    if ("code" in message) return notSent(way, message);
    if (chosen.providerKey === "in_app" || chosen.providerKey === "development") {
      const as = channel === "in_app" ? "inbox" : "outbox";
      return { ...way, providerAttempts: 1, kind: "kept", as, message, recipient: target.identity };
    }
    const { subject, title, text, html, data } = message;
    const to = { identity: target.identity, metadata: { ...target.metadata } };
    return {
      kind: "outgoing",
      way,
      message: { deliveryId: delivery.id, channel, to, subject, title, text, html, data },
    };

    function fallback(
      why: string,
    ): Pick<Integration, "id" | "providerKey" | "connectionId" | "casingOverride"> | undefined {
      if (why !== "none_active") return undefined;
      if (channel === "in_app") return { ...builtIn, providerKey: "in_app" };
      return outbox && except.size === 0 ? { ...builtIn, providerKey: "development" } : undefined;
    }
  }

  async function sendBy(
    work: Work,
    prepared: Prepared,
    signal: AbortSignal,
  ): Promise<{ done: Attempted; failover: boolean }> {
    if (prepared.kind !== "outgoing") return { done: prepared, failover: false };
    const { way, message } = prepared;
    const connection =
      way.connectionId === "" ? undefined : await connectors.open(work.delivery.tenantId, way.connectionId);
    if (typeof connection === "string") {
      const detail = "The connection of the integration cannot be used.";
      return { done: notSent(way, { phase: "credential", code: connection, detail }), failover: true };
    }
    const result = await providers.send(connection, way.providerKey, message, signal);
    if (result.kind === "accepted") {
      const { providerMessageId, observed } = result;
      return { done: { ...way, providerAttempts: 1, kind: "sent", providerMessageId, observed }, failover: false };
    }
    const { phase, code, detail, retryable, retryAfterMs, failover, suppressEndpoint } = result;
    const failure = { phase, code, detail };
    const done = {
      ...way,
      providerAttempts: 1,
      kind: "failed" as const,
      failure,
      retryable,
      retryAfterMs,
      suppressEndpoint,
    };
    return { done, failover };
  }

  return {
    prepare: (work: Work) => prepare(work, new Set()),

    /**
     * Sends a message by the first integration that takes it. Another one is tried only where nothing can have been
     * sent; what is told in the end is the first failure, since that is what has to be mended.
     */
    async send(work: Work, first: Prepared, signal: AbortSignal): Promise<Attempted> {
      const startedAtMs = clock.now();
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(attemptMsMax)]);
      const tried = new Set<string>();
      let told: Attempted | undefined;
      let prepared = first;
      try {
        for (let attempts = 1; ; attempts++) {
          const { done, failover } = await sendBy(work, prepared, inTime);
          if (done.kind !== "failed") return { ...done, providerAttempts: attempts };
          told ??= done;
          if (!failover || attempts === integrationsMax || clock.now() - startedAtMs > failoverMsMax) {
            return { ...told, providerAttempts: attempts };
          }
          tried.add(done.integrationId);
          prepared = await prepare(work, tried);
          if (prepared.kind === "failed" && prepared.integrationId === "")
            return { ...told, providerAttempts: attempts };
        }
      } catch (error) {
        log.error({ err: error, delivery_id: work.delivery.id }, "a notification could not be sent");
        const failure: DeliveryFailure = {
          phase: "system",
          code: "internal",
          detail: "The service failed to send it.",
        };
        return told ?? { ...notSent(noWay, failure), retryable: true };
      }
    },
  };
}

const noWay: Way = { integrationId: "", providerKey: "", connectionId: "", layoutId: "", layoutVersion: 0 };
const builtIn = { id: "", connectionId: "", casingOverride: "" } as const;

function notSent(way: Way, failure: DeliveryFailure) {
  return {
    ...way,
    providerAttempts: 0,
    kind: "failed" as const,
    failure,
    retryable: false,
    retryAfterMs: undefined,
    suppressEndpoint: false,
  };
}

function unserved(why: string): string {
  switch (why) {
    case "none_active":
      return "No active integration serves the channel.";
    case "condition_no_match":
      return "No integration of the channel has a condition that holds.";
    default:
      return "The condition of an integration of the channel cannot be evaluated.";
  }
}
