import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Connections } from "../../../connectors/index.ts";
import { credentialCode, type Providers } from "../../providers/index.ts";
import {
  type FailedMessage,
  failedMessage,
  internalFailure,
  type MessagePreparer,
  type PreparedMessage,
  type Route,
  type SendRequest,
  type StoredMessage,
} from "../message/message-preparation.ts";

/** A message that a provider accepted. */
interface SentMessage extends Route {
  readonly kind: "sent";
  readonly providerAttempts: number;
  readonly providerMessageId: string;
  /** Whether the provider may report later what happened to the message. */
  readonly observed: boolean;
}

/** The outcome of an attempt to send a message. */
export type AttemptResult = SentMessage | StoredMessage | FailedMessage;

interface Dependencies {
  readonly prepare: MessagePreparer;
  readonly connections: Pick<Connections, "open">;
  readonly providers: Pick<Providers, "send">;
  readonly clock: Clock;
}

const integrationsMax = 5;
/** Time limit of an attempt; a caller may be waiting for its result. */
const attemptMsMax = 25_000;
/** No further integration is tried after this time. */
const failoverMsMax = 15_000;

/** Options of one attempt: cancellation and the record of which integration may have the message. */
export interface SendOptions {
  readonly signal: AbortSignal;
  /** The integration already recorded as the one that may have the message; "" for none. */
  readonly handedOverTo: string;
  /** Records which integration may have the message from now on; false when the lease has expired. */
  handOver(route: Route): Promise<boolean>;
}

/**
 * Sends a prepared message through the first integration that accepts it. Another integration is tried only if nothing
 * can have been sent. Never throws.
 */
export type MessageSender = (
  request: SendRequest,
  prepared: PreparedMessage,
  options: SendOptions,
) => Promise<AttemptResult>;

export function createMessageSender({ prepare, connections, providers, clock }: Dependencies): MessageSender {
  return async (request, first, options) => {
    // A timeout signal would keep what it refers to until its time, long after most messages are sent.
    const limits = new AbortController();
    const abort = () => limits.abort();
    const timer = setTimeout(abort, attemptMsMax);
    options.signal.addEventListener("abort", abort);
    try {
      if (options.signal.aborted) abort();
      return await sendThroughAny(request, first, { ...options, signal: limits.signal });
    } finally {
      clearTimeout(timer);
      options.signal.removeEventListener("abort", abort);
    }
  };

  async function sendThroughAny(
    request: SendRequest,
    first: PreparedMessage,
    { signal, handedOverTo, handOver }: SendOptions,
  ): Promise<AttemptResult> {
    const startedAtMs = clock.now();
    const failures: FailedMessage[] = [];
    let holder = handedOverTo;
    const recordHandOver: SendOptions["handOver"] = async (route) => {
      if (route.integrationId === holder) return true;
      holder = route.integrationId;
      return handOver(route);
    };
    for (let prepared = first; ; ) {
      const { done, failover } = await sendOnce(request, prepared, signal, recordHandOver);
      if (done.kind !== "failed") return { ...done, providerAttempts: done.providerAttempts + attemptsIn(failures) };
      failures.push(done);
      if (!failover || request.onlyIntegrationId !== "") break;
      if (failures.length === integrationsMax || clock.now() - startedAtMs > failoverMsMax) break;
      prepared = await prepare(request, new Set(failures.map(({ integrationId }) => integrationId)));
      // No other integration is left.
      if (prepared.kind === "failed" && prepared.failure.phase === "integration") break;
    }
    return combineFailures(failures);
  }

  async function sendOnce(
    { delivery }: SendRequest,
    prepared: PreparedMessage,
    signal: AbortSignal,
    handOver: SendOptions["handOver"],
  ): Promise<{ done: AttemptResult; failover: boolean }> {
    if (prepared.kind !== "outgoing") return { done: prepared, failover: false };
    const { route, message } = prepared;
    const connection = await open(delivery.tenantId, route.connectionId);
    if (typeof connection === "string") {
      const detail = "The connection of the integration cannot be used.";
      return {
        done: failedMessage(route, { phase: "credential", code: credentialCode(connection), detail }),
        failover: true,
      };
    }
    if (connection === null) return { done: { ...internalFailure(), ...route }, failover: false };
    if (!(await handOver(route).catch(() => false)))
      return { done: { ...internalFailure(), ...route }, failover: false };
    const result = await providers.send(connection, route.providerKey, message, signal);
    if (result.kind === "accepted") {
      const { providerMessageId, observed } = result;
      return { done: { ...route, kind: "sent", providerAttempts: 1, providerMessageId, observed }, failover: false };
    }
    const { phase, code, detail, failover, retryable, retryAfterMs, suppressEndpoint, mayHaveArrived } = result;
    const unreachableIdentity = suppressEndpoint ? message.to.identity : "";
    const outcome = { failure: { phase, code, detail }, retryable, retryAfterMs, unreachableIdentity, mayHaveArrived };
    return { done: { ...route, kind: "failed", providerAttempts: 1, ...outcome }, failover };
  }

  /** Null when the state of the connection cannot be read. */
  async function open(tenantId: SendRequest["delivery"]["tenantId"], connectionId: string) {
    if (connectionId === "") return undefined;
    try {
      return await connections.open(tenantId, connectionId);
    } catch {
      return null;
    }
  }
}

/**
 * Combines the failures of several integrations. The last failure counts if the message may have arrived or the address
 * is to be suppressed. Otherwise the first one counts, since that integration is the one to fix. The message is
 * retried if any of them may accept it later.
 */
function combineFailures(failures: readonly FailedMessage[]): FailedMessage {
  const last = failures.at(-1)!;
  const providerAttempts = attemptsIn(failures);
  if (last.mayHaveArrived || last.unreachableIdentity !== "") return { ...last, providerAttempts };
  const waits = failures.flatMap(({ retryable, retryAfterMs }) => (retryable ? [retryAfterMs ?? 0] : []));
  const retryAfterMs = waits.length === 0 ? undefined : Math.min(...waits);
  return { ...failures[0]!, providerAttempts, retryable: waits.length > 0, retryAfterMs };
}

function attemptsIn(failures: readonly FailedMessage[]): number {
  return failures.reduce((sum, { providerAttempts }) => sum + providerAttempts, 0);
}
