import { type Keyring, webhookHeaders } from "../../../../platform/crypto/index.ts";
import { type Egress, EgressError, type EgressFault } from "../../../../platform/egress/index.ts";
import type { Event } from "../../events/index.ts";
import { bodyOf, contentType } from "../domain/cloud-event.ts";
import { type AttemptFailure, type AttemptResult, messageIdOf, resultOf } from "../domain/delivery.ts";
import { bindingOf } from "../domain/endpoint.ts";
import type { Destination } from "../endpoints/endpoint-store.ts";

const timeoutMs = 15_000;

const failures: Readonly<Record<Exclude<EgressFault, "cancelled">, AttemptFailure>> = {
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

/** Dependencies of an attempt. */
export interface AttemptParts {
  readonly egress: Egress;
  readonly keyring: Keyring | undefined;
}

/** Signs an event and posts it once; throws only when the signal aborts. */
export async function attempt(
  { egress, keyring }: AttemptParts,
  destination: Destination,
  event: Event,
  nowMs: number,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const secrets = decryptSecrets(keyring, destination);
  if (secrets === undefined) return { responseStatus: undefined, failure: "secret_unreadable" };
  const body = bodyOf(event);
  const id = messageIdOf({ endpointId: destination.endpointId, eventId: event.id });
  const headers = webhookHeaders({ id, timestampS: Math.floor(nowMs / 1000), body }, secrets);
  try {
    const { status } = await egress.request({
      method: "POST",
      url: destination.url,
      headers: { ...headers, "content-type": contentType, "user-agent": "Switchyard" },
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

/** Decrypts the secrets; undefined if any cannot be decrypted, because the receiver may know only that one. */
function decryptSecrets(keyring: Keyring | undefined, { tenantId, secrets }: Destination): string[] | undefined {
  try {
    return secrets.map(({ id, ciphertext }) => keyring!.open(ciphertext, bindingOf({ tenantId, id })));
  } catch {
    return undefined;
  }
}
