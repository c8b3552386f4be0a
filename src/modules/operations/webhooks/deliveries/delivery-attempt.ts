import { type Keyring, webhookHeaders } from "../../../../platform/crypto/index.ts";
import { type Egress, EgressError, type EgressFailure } from "../../../../platform/egress/index.ts";
import type { EventLoopScheduler } from "../../../../platform/event-loop/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { Event } from "../../events/index.ts";
import { cloudEventOf, contentType } from "../domain/cloud-event.ts";
import { type AttemptFailure, type AttemptResult, messageIdOf, resultOf } from "../domain/delivery.ts";
import { bindingOf, type Headers, headersBindingOf } from "../domain/endpoint.ts";
import { TransformError, transformedBody } from "../domain/transform.ts";
import type { Destination } from "../endpoints/endpoint-store.ts";

const timeoutMs = 15_000;

const failures: Readonly<Record<Exclude<EgressFailure, "cancelled">, AttemptFailure>> = {
  denied: "denied",
  invalid_url: "invalid_url",
  dns_failed: "dns",
  connect_failed: "connect",
  tls_failed: "tls",
  timeout: "timeout",
  // The body is not read, so only the response's headers can be too large.
  too_large: "connection_lost",
  connection_lost: "connection_lost",
};

export interface AttemptParts extends Pick<PlatformServices, "keyring" | "shares"> {
  readonly egress: Egress;
}

/** Signs an event and posts it once; throws only when the signal aborts. */
export async function attempt(
  { egress, keyring, shares }: AttemptParts,
  destination: Destination,
  event: Event,
  nowMs: number,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const sealed = decrypt(keyring, destination);
  if (sealed === undefined) return { responseStatus: undefined, failure: "secret_unreadable" };
  const body = await bodyFor(shares, destination, event);
  if (body === undefined) return { responseStatus: undefined, failure: "transform" };
  const id = messageIdOf({ endpointId: destination.endpointId, eventId: event.id });
  const headers = webhookHeaders({ id, timestampS: Math.floor(nowMs / 1000), body }, sealed.secrets);
  try {
    const { status } = await egress.request({
      method: "POST",
      url: destination.url,
      headers: {
        ...sealed.headers,
        ...headers,
        "content-type": destination.transform === null ? contentType : "application/json",
        "user-agent": "Switchyard",
      },
      body,
      timeoutMs,
      ignoreBody: true,
      signal,
    });
    return resultOf(status);
  } catch (error) {
    if (!(error instanceof EgressError) || error.reason === "cancelled") throw error;
    return { responseStatus: undefined, failure: failures[error.reason] };
  }
}

/** The body of the message; undefined if the endpoint's template fails for this event. */
async function bodyFor(
  shares: EventLoopScheduler,
  { tenantId, transform }: Destination,
  event: Event,
): Promise<string | undefined> {
  if (transform === null) return JSON.stringify(cloudEventOf(event));
  await shares.forBackground(tenantId).next();
  try {
    return transformedBody(transform, event);
  } catch (error) {
    if (error instanceof TransformError) return undefined;
    throw error;
  }
}

/** Decrypts secrets and headers; undefined if any cannot be decrypted, because the receiver may know only that one. */
function decrypt(
  keyring: Keyring | undefined,
  { tenantId, endpointId, secrets, headers }: Destination,
): { readonly secrets: string[]; readonly headers: Headers } | undefined {
  try {
    return {
      secrets: secrets.map(({ id, ciphertext }) => keyring!.open(ciphertext, bindingOf({ tenantId, id }))),
      headers:
        headers === null ? {} : JSON.parse(keyring!.open(headers, headersBindingOf({ tenantId, id: endpointId }))),
    };
  } catch {
    return undefined;
  }
}
