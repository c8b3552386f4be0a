import { type Backoff, backoffMs } from "../../../../platform/backoff/backoff.ts";
import { writePersistently } from "../../../../platform/db/index.ts";
import { storableText } from "../../../../platform/text/index.ts";
import type { PlatformServices } from "../../../area.ts";
import { type Catalogue, type Provider, type RegistrationSpec, type Trigger, valueAt } from "../../manifests/index.ts";
import { callbackPath, registrationBinding, type Secrets, urlKeyParameter } from "../domain/subscription.ts";
import type { ProviderClient, ProviderFailure } from "../provider-client.ts";
import { openSecrets, sealSecrets } from "../sealed-secrets.ts";
import type { StoreStatus } from "../status-store.ts";
import type { TriggerMetrics } from "../trigger-metrics.ts";
import { type Registration, registrationStore } from "./registration-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log" | "keyring"> {
  readonly catalogue: Pick<Catalogue, "trigger">;
  readonly send: ProviderClient;
  readonly storeStatus: StoreStatus;
  readonly metrics: TriggerMetrics;
  readonly publicUrl: () => string;
}

/** A trigger that is registered at its provider. */
interface Registered {
  readonly provider: Provider;
  readonly trigger: Trigger;
  readonly spec: RegistrationSpec;
  readonly secrets: Secrets;
}

const retries: Backoff = { firstMs: 5000, maxMs: 60 * 60_000, spread: [1, 1.2] };
/** A webhook that cannot be removed for this long stays at the provider. Its deliveries are refused. */
const removalFailuresMax = 60;
/** The life of a registration that the provider asks for, if the manifest does not say. */
const lifeMsDefault = 2 * 86_400_000;
const lifeMsMax = 10 * 365 * 86_400_000;

/** Creates the function that registers, renews or removes one claimed webhook. It throws only when the signal aborts. */
export function createRegistrar(dependencies: Dependencies) {
  const { db, clock, log, keyring, catalogue, send, storeStatus, metrics, publicUrl } = dependencies;
  const store = registrationStore(db.sql);

  async function findTrigger(registration: Registration): Promise<Registered | string> {
    const found = await catalogue.trigger(registration.tenantId, registration.triggerKey);
    const spec = found?.trigger.register;
    if (found === undefined || spec === undefined) return `The trigger ${registration.triggerKey} no longer exists.`;
    const secrets = openSecrets(keyring, registration.ciphertext, registrationBinding(registration));
    if (secrets === undefined) return "The secrets of the registration cannot be opened.";
    return { ...found, spec, secrets };
  }

  function callOf(registration: Registration, { provider, trigger, secrets, spec }: Registered, signal: AbortSignal) {
    const { tenantId, connectionId, input, subscriptionId, externalId } = registration;
    const { signing = "", urlKey } = secrets;
    const url = `${publicUrl()}${callbackPath({ tenantId, id: subscriptionId })}`;
    const lifeMs = spec.expires !== undefined && "afterS" in spec.expires ? spec.expires.afterS * 1000 : lifeMsDefault;
    return {
      ...{ tenantId, connectionId, provider, trigger, input, signal },
      secrets: [signing, urlKey ?? ""].filter((each) => each !== ""),
      subscription: {
        callback_url: urlKey === undefined ? url : `${url}?${urlKeyParameter}=${urlKey}`,
        secret: signing,
        id: externalId,
        expires_at: new Date(clock.now() + lifeMs).toISOString(),
      },
    };
  }

  async function register(registration: Registration, registered: Registered, signal: AbortSignal): Promise<void> {
    const { spec, secrets } = registered;
    if (publicUrl() === "") {
      const message = "The operator must set api.public_url, so that providers can reach this node.";
      return storeFailure(registration, { class: "failed", message, mayHaveArrived: false });
    }
    const isRenewal = registration.state === "active";
    const operation = isRenewal ? "renew" : "register";
    const call = callOf(registration, registered, signal);
    const result = await send({ ...call, request: isRenewal ? spec.renew! : spec.request });
    if (result.class !== "ok") {
      metrics.registration(operation, "failed");
      // A registration that the provider deleted cannot be renewed.
      if (isRenewal && result.class === "not_found") return store.registerAgain(registration);
      return storeFailure(registration, result);
    }
    const body = result.answer.output;
    const externalId = isRenewal ? registration.externalId : idText(valueAt(body, spec.id));
    const signing = spec.secret.kind === "answer" ? valueAt(body, spec.secret.pointer) : secrets.signing;
    if (externalId === undefined || (!isRenewal && spec.secret.kind === "answer" && typeof signing !== "string")) {
      metrics.registration(operation, "failed");
      const message = "The provider's answer has no id or secret of the registration.";
      return storeFailure(registration, { class: "malformed", message, mayHaveArrived: true });
    }
    const changed = { ...secrets, signing: String(signing) };
    const sealed =
      !isRenewal && spec.secret.kind === "answer"
        ? sealSecrets(keyring, changed, registrationBinding(registration))
        : undefined;
    const expiresAt = expiryOf(spec, body, clock.now());
    const dueAt = expiresAt === null ? null : renewalTime(expiresAt, clock.now());
    // A webhook whose id is not stored is registered again, and can never be removed.
    const state = await writePersistently(
      () => store.storeRegistered(registration, { externalId, expiresAt, sealed, dueAt }),
      (error) => log.warn({ err: error, registration: registration.id }, "storing a registered webhook failed"),
    );
    metrics.registration(operation, "done");
    if (state === undefined && !isRenewal) {
      // Another node has registered it meanwhile. This registration is not known to anyone else.
      await unregister({ ...registration, externalId }, registered, signal);
    }
    if (state === "active") {
      await storeStatus(registration, { intakeError: "", expired: false, readyAt: new Date(clock.now()) });
    }
  }

  async function unregister(registration: Registration, registered: Registered, signal: AbortSignal) {
    const { unregister: request } = registered.spec;
    if (request === undefined || registration.externalId === "") return undefined;
    const result = await send({ ...callOf(registration, registered, signal), request });
    // A registration that no longer exists is removed.
    const isGone = result.class === "ok" || result.class === "not_found";
    metrics.registration("remove", isGone ? "done" : "failed");
    return isGone ? undefined : result;
  }

  async function remove(registration: Registration, found: Registered | string, signal: AbortSignal): Promise<void> {
    const fault = typeof found === "string" ? undefined : await unregister(registration, found, signal);
    if (fault === undefined || registration.failures + 1 >= removalFailuresMax) await store.remove(registration);
    else await storeFailure(registration, fault);
  }

  async function storeFailure(registration: Registration, fault: ProviderFailure): Promise<void> {
    const nowMs = clock.now();
    const waitMs = Math.max(
      backoffMs(retries, registration.failures + 1, Math.random()),
      Math.min((fault.retryAtMs ?? nowMs) - nowMs, retries.maxMs),
    );
    const isExpired = registration.expiresAt !== null && registration.expiresAt.getTime() <= nowMs;
    const state = await store.storeFailure(registration, { waitMs, message: fault.message, isExpired });
    if (state === undefined || state === "removing") return;
    const intakeError = `The webhook cannot be registered at the provider: ${fault.message}`;
    await storeStatus(registration, { intakeError, ...(isExpired && { expired: true }) });
  }

  return async (registration: Registration, signal: AbortSignal): Promise<void> => {
    const found = await findTrigger(registration);
    if (registration.state === "removing") return remove(registration, found, signal);
    if (typeof found !== "string") return register(registration, found, signal);
    return storeFailure(registration, { class: "failed", message: found, mayHaveArrived: false });
  };
}

function idText(value: unknown): string | undefined {
  return (typeof value === "string" && value !== "") || typeof value === "number"
    ? storableText(String(value))
    : undefined;
}

function expiryOf({ expires }: RegistrationSpec, body: Parameters<typeof valueAt>[0], nowMs: number): Date | null {
  if (expires === undefined) return null;
  if ("afterS" in expires) return new Date(nowMs + expires.afterS * 1000);
  const found = valueAt(body, expires.at);
  const number = Number(found);
  const atMs = { rfc3339: Date.parse(String(found)), epoch_s: number * 1000, epoch_ms: number }[expires.unit];
  // Without a valid time, the registration is renewed as if it had the usual life.
  return new Date(atMs > nowMs && atMs < nowMs + lifeMsMax ? atMs : nowMs + lifeMsDefault);
}

/** Renews in the last fifth of the life of a registration. */
function renewalTime(expiresAt: Date, nowMs: number): Date {
  return new Date(nowMs + (expiresAt.getTime() - nowMs) * 0.8);
}
