import type { Context } from "../../../../chain/call.ts";
import { fail, invalid } from "../../../../errors/index.ts";
import { type EnvironmentMode, isWithinMode } from "../../../../platform/access/index.ts";
import type { Keyring } from "../../../../platform/crypto/index.ts";
import { type Database, notFound, unchangedRecord, updateRefusal } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { enqueueJobs } from "../../../../platform/jobs/index.ts";
import { changedFields, isEmptyChange, newStamps } from "../../../../platform/records/index.ts";
import type { EventRecorder } from "../../events/index.ts";
import { deliveryStore } from "../deliveries/delivery-store.ts";
import {
  bindingOf,
  type Endpoint,
  type EndpointChange,
  endpointsMax,
  failingMsMax,
  type Headers,
  headersBindingOf,
  type NewEndpoint,
  overlapMs,
  secretsMax,
} from "../domain/endpoint.ts";
import { checkHeaders } from "../domain/headers.ts";
import { secretBytes, secretText } from "../domain/signature.ts";
import { checkTransform } from "../domain/transform.ts";
import { endpointCleanupKind } from "../jobs.ts";
import { type EndpointRef, endpointStore } from "./endpoint-store.ts";

export interface EndpointParts {
  readonly events: EventRecorder;
  /** Undefined if the instance has no master key. Then no endpoint can be created. */
  readonly keyring: Keyring | undefined;
  readonly randomBytes: (count: number) => Uint8Array;
  /** Why a URL cannot be used; undefined if it can. */
  readonly urlRefusal: (url: string) => string | undefined;
  /** Wakes the followers of all nodes, which then refresh the set of followed tenants. */
  readonly wakeFollowers: () => void;
}

export type EndpointService = ReturnType<typeof createEndpointService>;

export function createEndpointService({ events, keyring, randomBytes, urlRefusal, wakeFollowers }: EndpointParts) {
  async function addSecret({ sql, nowMs, tenantId }: Context, endpointId: string): Promise<string> {
    const keys = requireKeyring(keyring);
    const id = ulid(nowMs);
    const secret = secretText(randomBytes(secretBytes));
    const ciphertext = keys.seal(secret, bindingOf({ tenantId, id }));
    const sealed = { tenantId, id, endpointId, ciphertext, keyId: keys.activeKeyId };
    await endpointStore(sql).insertSecret(sealed, new Date(nowMs));
    return secret;
  }

  /** Seals and stores the additional headers of an endpoint. */
  async function setHeaders({ sql, tenantId }: Context, endpointId: string, headers: Headers): Promise<void> {
    const names = Object.keys(headers).toSorted();
    const store = endpointStore(sql);
    if (names.length === 0) return store.setHeaders({ tenantId, endpointId }, undefined);
    const keys = requireKeyring(keyring);
    const ciphertext = keys.seal(JSON.stringify(headers), headersBindingOf({ tenantId, id: endpointId }));
    return store.setHeaders({ tenantId, endpointId }, { names, ciphertext, keyId: keys.activeKeyId });
  }

  function requireAllowedUrl(url: string | undefined): void {
    const refusal = url === undefined ? undefined : urlRefusal(url);
    if (refusal !== undefined) throw invalid("url", "url", refusal);
  }

  return {
    async createEndpoint(context: Context, input: NewEndpoint): Promise<{ endpoint: Endpoint; secret: string }> {
      const { sql, tenantId, principal, nowMs, afterCommit } = context;
      requireAllowedUrl(input.url);
      const headers = checkHeaders(input.headers);
      checkTransform(input.transform);
      const { environmentMode = principal.environmentMode } = input;
      requireMode(context, environmentMode);
      const store = endpointStore(sql);
      // Also locks out concurrent creation in the tenant, so that the count stays correct.
      await store.openCursor(tenantId);
      if ((await store.count(tenantId)) >= endpointsMax) {
        throw fail("FAILED_PRECONDITION", {
          public: `A tenant can have at most ${endpointsMax} webhook endpoints. Delete one first.`,
        });
      }
      const endpoint = await store.insert({
        ...input,
        environmentMode,
        tenantId,
        id: ulid(nowMs),
        status: "active",
        disabledReason: "",
        failingSince: null,
        headerNames: [],
        ...newStamps(nowMs),
      });
      await setHeaders(context, endpoint.id, headers);
      const secret = await addSecret(context, endpoint.id);
      await events.record(context, "webhook.endpoint.created", endpoint.id, { event_types: endpoint.eventTypes });
      afterCommit(wakeFollowers);
      return { endpoint: { ...endpoint, headerNames: Object.keys(headers).toSorted() }, secret };
    },

    async getEndpoint(context: Context, id: string): Promise<Endpoint> {
      return requireAccess(context, await endpointStore(context.sql).find(context.tenantId, id));
    },

    async updateEndpoint(
      context: Context,
      id: string,
      change: EndpointChange,
      expectedVersion: number | undefined,
    ): Promise<Endpoint> {
      const { sql, tenantId, nowMs, afterCommit } = context;
      requireAllowedUrl(change.url);
      const headers = change.headers && checkHeaders(change.headers);
      if (change.transform !== undefined) checkTransform(change.transform);
      const store = endpointStore(sql);
      if (isEmptyChange(change)) {
        return unchangedRecord(await this.getEndpoint(context, id), expectedVersion, "webhook endpoint");
      }
      // The lock of the cursor keeps the follower from adding deliveries meanwhile.
      if (change.status === "active" || change.ordered === true) await store.openCursor(tenantId);
      const current = requireAccess(context, await store.lock(tenantId, id));
      if (change.status === "active" && current.status === "disabled") {
        await store.resetFailures({ tenantId, endpointId: id });
        afterCommit(wakeFollowers);
      }
      if (headers !== undefined) await setHeaders(context, id, headers);
      const endpoint = await store.update(tenantId, id, change, expectedVersion, new Date(nowMs));
      if (endpoint === undefined) throw updateRefusal(current, "webhook endpoint");
      if (endpoint.ordered && !current.ordered) await deliveryStore(sql).orderPending({ tenantId, endpointId: id });
      const { eventTypes: event_types, retryDelaysS: retry_delays_s, ...rest } = change;
      const fields = changedFields({ ...rest, event_types, retry_delays_s });
      await events.record(context, "webhook.endpoint.updated", id, { fields });
      return endpoint;
    },

    async deleteEndpoint(context: Context, id: string): Promise<Endpoint> {
      const { sql, tenantId, nowMs } = context;
      const endpoint = requireAccess(context, await endpointStore(sql).remove(tenantId, id));
      const cleanup = { tenantId, kind: endpointCleanupKind, payload: { endpointId: id }, runAt: new Date(nowMs) };
      await enqueueJobs(sql, [cleanup], nowMs);
      await events.record(context, "webhook.endpoint.deleted", id, {});
      return endpoint;
    },

    async rotateSecret(
      context: Context,
      id: string,
    ): Promise<{ endpoint: Endpoint; secret: string; previousValidUntil: Date }> {
      const { sql, tenantId, nowMs } = context;
      const store = endpointStore(sql);
      const endpoint = requireAccess(context, await store.lock(tenantId, id));
      const previousValidUntil = new Date(nowMs + overlapMs);
      if ((await store.expireSecrets({ tenantId, endpointId: id }, previousValidUntil)) >= secretsMax) {
        throw fail("FAILED_PRECONDITION", {
          public: `This endpoint already has ${secretsMax} valid secrets. Wait until the oldest one expires.`,
        });
      }
      const secret = await addSecret(context, id);
      const data = { previous_valid_until: previousValidUntil.toISOString() };
      await events.record(context, "webhook.endpoint.secret_rotated", id, data);
      return { endpoint, secret, previousValidUntil };
    },
  };
}

/** Creates a function that disables a failing endpoint and records the event. */
export function createEndpointDisabler(db: Database, events: EventRecorder, now: () => number) {
  return async ({ tenantId, endpointId }: EndpointRef, reason: "gone" | "failing"): Promise<boolean> => {
    return db.transaction(async (sql) => {
      const endpoint = await endpointStore(sql).disable({ tenantId, endpointId }, reason, failingMsMax);
      if (endpoint === undefined) return false;
      await events.record({ tenantId, sql, nowMs: now() }, "webhook.endpoint.disabled", endpointId, { reason });
      return true;
    });
  };
}

/** Returns an endpoint that exists and whose events the caller may see; throws otherwise. */
export function requireAccess({ principal }: Pick<Context, "principal">, endpoint: Endpoint | undefined): Endpoint {
  if (endpoint === undefined) throw notFound("webhook endpoint");
  requireMode({ principal }, endpoint.environmentMode);
  return endpoint;
}

/** Rejects an endpoint mode with events that the caller may not see. */
function requireMode({ principal }: Pick<Context, "principal">, mode: EnvironmentMode): void {
  if (isWithinMode(mode, principal.environmentMode)) return;
  throw fail("PERMISSION_DENIED", {
    public: `The endpoint's environment_mode ${mode} exceeds the caller's own, which is ${principal.environmentMode}.`,
  });
}

function requireKeyring(keyring: Keyring | undefined): Keyring {
  if (keyring !== undefined) return keyring;
  throw fail("FAILED_PRECONDITION", {
    public:
      "Webhooks require a master key: the operator must set connector.encryption_key (for example to the output of: openssl rand -base64 32).",
  });
}
