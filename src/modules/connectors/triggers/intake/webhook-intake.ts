import { createBatcher } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { PlatformServices } from "../../../area.ts";
import {
  type Catalogue,
  createRedactor,
  type Provider,
  type Redactor,
  secretsOf,
  type VerifySpec,
} from "../../manifests/index.ts";
import { registrationBinding, type Secrets, subscriptionBinding, urlKeyParameter } from "../domain/subscription.ts";
import { type EventRow, insertEvents, toEventRow } from "../events/event-writer.ts";
import type { ConnectionAccess } from "../provider-client.ts";
import { openSecrets } from "../sealed-secrets.ts";
import type { TriggerMetrics } from "../trigger-metrics.ts";
import { challengeReply, eventsOf, type Reply, readDelivery } from "./delivery-reader.ts";
import { findIntakeSubscription, type IntakeSubscription } from "./intake-store.ts";
import { type Delivery, isSameText, isVerified, type ReadDelivery } from "./verification.ts";

/**
 * The result of a delivery. All unverified deliveries are refused in the same way, whatever the reason. `unavailable`: it cannot
 * be stored now.
 */
type IntakeResult = "taken" | "refused" | "malformed" | "unavailable" | { readonly reply: Reply };

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "keyring"> {
  readonly catalogue: Pick<Catalogue, "trigger">;
  readonly connections: Pick<ConnectionAccess, "readSecrets">;
  readonly metrics: TriggerMetrics;
  /** Wakes the delivery of new events. */
  readonly wakeDelivery: () => void;
}

/** Creates the intake of webhooks, and a function that resolves when nothing is being written. */
export function createWebhookIntake(dependencies: Dependencies) {
  const { db, clock, keyring, catalogue, connections, metrics, wakeDelivery } = dependencies;
  const writer = createBatcher<readonly EventRow[], number>({
    lanes: 2,
    batchMax: 500,
    weigh: (rows) => Math.max(1, rows.length),
    flush: async (inputs) => {
      const ids = new Set(await insertEvents(db.sql, inputs.flat()));
      return inputs.map((rows) => rows.filter(({ id }) => ids.has(id)).length);
    },
  });

  /** The secrets that may have signed a delivery. */
  function secretsFor({ tenantId, id, ciphertext, registrations }: IntakeSubscription): readonly Secrets[] {
    return [
      openSecrets(keyring, ciphertext, subscriptionBinding({ tenantId, id })),
      ...registrations.map((each) =>
        openSecrets(keyring, each.ciphertext, registrationBinding({ tenantId, id: each.id })),
      ),
    ].flatMap((each) => each ?? []);
  }

  /**
   * Replaces credentials in payloads. Without the credentials nothing may be stored: they cannot be recognised. Those of a
   * revoked connection are never known again. The others may be later, on a node that has the master key.
   */
  async function redactorFor(
    subscription: IntakeSubscription,
    provider: Provider,
    secrets: readonly Secrets[],
  ): Promise<Redactor | "refused" | "unavailable"> {
    const { tenantId, connectionId } = subscription;
    const own = secrets.flatMap(({ signing, urlKey }) => [signing ?? "", urlKey ?? ""]).filter((each) => each !== "");
    const account = await connections.readSecrets(tenantId, connectionId);
    if (typeof account === "string") return account === "decrypt_failed" ? "unavailable" : "refused";
    return createRedactor([...own, ...secretsOf(provider, account)]);
  }

  async function receive(tenantId: string, subscriptionId: string, given: Delivery): Promise<IntakeResult> {
    const subscription = await findIntakeSubscription(db.sql, tenantId, subscriptionId);
    const found = subscription && (await catalogue.trigger(subscription.tenantId, subscription.triggerKey));
    const verify = found?.trigger.verify;
    if (subscription === undefined || verify === undefined) return "refused";
    const { trigger, provider } = found!;
    const delivery = readDelivery(given);
    const nowMs = clock.now();
    const secrets = secretsFor(subscription);
    const isProven = secrets.some((each) => proves(verify, each, delivery, nowMs));
    if (isProven || secrets.some((each) => knowsSecret(each, delivery))) {
      const reply = challengeReply(trigger, delivery, subscription.input);
      if (reply !== undefined) return { reply };
    }
    if (!isProven || delivery.method === "GET") return "refused";
    if (subscription.paused) return "taken";
    const events = eventsOf(trigger, delivery, subscription.input);
    if (events === undefined) return "malformed";
    if (events.length === 0) return "taken";
    const redactor = await redactorFor(subscription, provider, secrets);
    if (typeof redactor === "string") return redactor;
    const ref = { tenantId: subscription.tenantId, subscriptionId: subscription.id };
    const rows = events.map((event) =>
      toEventRow(
        { ...ref, environmentKey: subscription.environmentKey, id: ulid(nowMs), receivedAt: new Date(nowMs) },
        { ...event, payload: redactor.value(event.payload) },
      ),
    );
    const fresh = await writer.run(rows);
    metrics.received("webhook", fresh, rows.length - fresh);
    if (fresh > 0) wakeDelivery();
    return "taken";
  }

  return {
    /** Receives a delivery of a provider. When it resolves with `taken`, its events are committed. */
    async receive(...delivery: Parameters<typeof receive>): Promise<IntakeResult> {
      const result = await receive(...delivery);
      metrics.webhook(typeof result === "string" ? (result === "taken" ? "accepted" : result) : "challenge");
      return result;
    },
    idle: writer.idle,
  };
}

/** Whether a delivery proves its origin by the manifest's scheme. Without a scheme, the secret part of the URL proves it. */
function proves(verify: VerifySpec, { signing, urlKey }: Secrets, delivery: ReadDelivery, nowMs: number): boolean {
  if (verify.kind === "none") return hasUrlKey(urlKey, delivery);
  return signing !== undefined && isVerified(verify, signing, delivery, nowMs);
}

function hasUrlKey(urlKey: string | undefined, { query }: ReadDelivery): boolean {
  const given = query[urlKeyParameter];
  return urlKey !== undefined && given !== undefined && isSameText(given, urlKey);
}

/**
 * Whether the sender of a challenge knows a secret of the subscription. Most providers cannot sign a challenge. They repeat the
 * secret part of the URL, or send the secret as a parameter, such as `hub.verify_token`.
 */
function knowsSecret({ signing, urlKey }: Secrets, delivery: ReadDelivery): boolean {
  if (hasUrlKey(urlKey, delivery)) return true;
  return signing !== undefined && Object.values(delivery.query).some((each) => isSameText(each, signing));
}
