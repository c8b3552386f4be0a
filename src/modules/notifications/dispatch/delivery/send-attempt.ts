import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Connections } from "../../../connectors/index.ts";
import type { Providers } from "../../providers/index.ts";
import {
  failedWithin,
  type Kept,
  type NotSent,
  notSent,
  type Prepare,
  type Prepared,
  type Way,
  type Work,
} from "../message/message-preparation.ts";

/** A message that a provider took. */
interface Sent extends Way {
  readonly kind: "sent";
  readonly providerAttempts: number;
  readonly providerMessageId: string;
  /** Whether the provider may tell later what became of it. */
  readonly observed: boolean;
}

/** What came of trying to send a message. */
export type Attempted = Sent | Kept | NotSent;

interface Parts {
  readonly prepare: Prepare;
  readonly connections: Pick<Connections, "open">;
  readonly providers: Pick<Providers, "send">;
  readonly clock: Clock;
}

const integrationsMax = 5;
/** After this long a message is given up for this time: whoever waits for the answer has waited enough. */
const attemptMsMax = 25_000;
/** After this long no further integration is tried. */
const failoverMsMax = 15_000;

/** What is written down before a message leaves. */
export interface Departure {
  readonly signal: AbortSignal;
  /** The integration that is written down already as the one that may have the message; "" for none. */
  readonly handedOverTo: string;
  /** Writes down which integration may have the message from now on; false when the lease has ended. */
  handOver(way: Way): Promise<boolean>;
}

/**
 * Sends a message that is prepared by the first integration that takes it. Another one is tried only where nothing can
 * have been sent. Never throws.
 */
export type Send = (work: Work, prepared: Prepared, departure: Departure) => Promise<Attempted>;

/** Makes what sends messages. */
export function createSend({ prepare, connections, providers, clock }: Parts): Send {
  return async (work, first, { signal, handedOverTo, handOver }) => {
    const startedAtMs = clock.now();
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(attemptMsMax)]);
    const failures: NotSent[] = [];
    let holder = handedOverTo;
    const departure: Departure["handOver"] = async (way) => {
      if (way.integrationId === holder) return true;
      holder = way.integrationId;
      return handOver(way);
    };
    for (let prepared = first; ; ) {
      const { done, failover } = await sendOnce(work, prepared, inTime, departure);
      if (done.kind !== "failed") return { ...done, providerAttempts: done.providerAttempts + attemptsIn(failures) };
      failures.push(done);
      if (!failover || work.onlyBy !== "") break;
      if (failures.length === integrationsMax || clock.now() - startedAtMs > failoverMsMax) break;
      prepared = await prepare(work, new Set(failures.map(({ integrationId }) => integrationId)));
      // Nobody is left to ask.
      if (prepared.kind === "failed" && prepared.failure.phase === "integration") break;
    }
    return together(failures);
  };

  async function sendOnce(
    { delivery }: Work,
    prepared: Prepared,
    signal: AbortSignal,
    handOver: Departure["handOver"],
  ): Promise<{ done: Attempted; failover: boolean }> {
    if (prepared.kind !== "outgoing") return { done: prepared, failover: false };
    const { way, message } = prepared;
    const connection = await open(delivery.tenantId, way.connectionId);
    if (typeof connection === "string") {
      const detail = "The connection of the integration cannot be used.";
      return { done: notSent(way, { phase: "credential", code: connection, detail }), failover: true };
    }
    if (connection === null) return { done: { ...failedWithin(), ...way }, failover: false };
    if (!(await handOver(way).catch(() => false))) return { done: { ...failedWithin(), ...way }, failover: false };
    const result = await providers.send(connection, way.providerKey, message, signal);
    if (result.kind === "accepted") {
      const { providerMessageId, observed } = result;
      return { done: { ...way, kind: "sent", providerAttempts: 1, providerMessageId, observed }, failover: false };
    }
    const { phase, code, detail, failover, retryable, retryAfterMs, suppressEndpoint, mayHaveArrived } = result;
    const told = { failure: { phase, code, detail }, retryable, retryAfterMs, suppressEndpoint, mayHaveArrived };
    return { done: { ...way, kind: "failed", providerAttempts: 1, ...told }, failover };
  }

  /** Null when it cannot be told what is the matter with a connection. */
  async function open(tenantId: Work["delivery"]["tenantId"], connectionId: string) {
    if (connectionId === "") return undefined;
    try {
      return await connections.open(tenantId, connectionId);
    } catch {
      return null;
    }
  }
}

/**
 * What is told of a message that several integrations failed with: what the last one made of it where that may have
 * been something, and otherwise what the first one said, since that is what has to be mended. It is tried again if any of
 * them may take it later.
 */
function together(failures: readonly NotSent[]): NotSent {
  const last = failures.at(-1)!;
  const providerAttempts = attemptsIn(failures);
  if (last.mayHaveArrived || last.suppressEndpoint) return { ...last, providerAttempts };
  const waits = failures.flatMap(({ retryable, retryAfterMs }) => (retryable ? [retryAfterMs ?? 0] : []));
  const retryAfterMs = waits.length === 0 ? undefined : Math.min(...waits);
  return { ...failures[0]!, providerAttempts, retryable: waits.length > 0, retryAfterMs };
}

function attemptsIn(failures: readonly NotSent[]): number {
  return failures.reduce((sum, { providerAttempts }) => sum + providerAttempts, 0);
}
