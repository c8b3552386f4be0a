import type { Context } from "../../../../chain/call.ts";
import { fail, invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { covers, requireEnvironmentAccess } from "../../../../platform/access/index.ts";
import { checkCondition } from "../../../../platform/cel/index.ts";
import type { Keyring } from "../../../../platform/crypto/index.ts";
import { lockFor, notFound, type Sql, unchangedRecord, updateRefusal } from "../../../../platform/db/index.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { changedFields, isEmptyChange } from "../../../../platform/records/index.ts";
import { shardOf } from "../../../../platform/shards/index.ts";
import { secretProblem } from "../../../../platform/text/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { Connection } from "../../connections/index.ts";
import { type Catalogue, checkInput, type Trigger } from "../../manifests/index.ts";
import { type CompileTemplate, checkTarget, eventVariables } from "../delivery/target-templates.ts";
import {
  registrationBinding,
  type Secrets,
  type Subscription,
  type SubscriptionId,
  shardCount,
  subscriptionBinding,
  subscriptionsMax,
  type Target,
} from "../domain/subscription.ts";
import { registrationStore } from "../registration/registration-store.ts";
import { newSecret, openSecrets, sealSecrets } from "../sealed-secrets.ts";
import { type FieldChange, subscriptionStore } from "./subscription-store.ts";

export interface NewSubscription
  extends Pick<Subscription, "name" | "triggerKey" | "connectionId" | "input" | "condition" | "target"> {
  /** Empty for production. */
  readonly environmentId: string;
  /** Empty if the service registers the webhook, or polls. */
  readonly signingSecret: string;
}

/** The fields that an update can change. */
interface SubscriptionChange extends FieldChange {
  readonly signingSecret?: string | undefined;
}

/** Finds environments that the caller may use. */
export interface EnvironmentLookup {
  require(
    context: Pick<Context, "tenantId" | "principal">,
    id: string,
  ): Promise<{ readonly id: string; readonly key: string }>;
}

export interface SubscriptionParts {
  readonly events: EventRecorder;
  readonly keyring: Keyring | undefined;
  readonly catalogue: Pick<Catalogue, "trigger">;
  readonly connections: {
    find(
      sql: Sql,
      tenantId: TenantId,
      connectionId: string,
    ): Promise<Pick<Connection, "providerKey" | "status" | "environmentId" | "environmentKey"> | undefined>;
  };
  readonly environments: EnvironmentLookup;
  readonly compileTemplate: CompileTemplate;
  /** Wakes the workers that register webhooks and poll. */
  readonly wakeWorkers: () => void;
}

export type SubscriptionService = ReturnType<typeof createSubscriptionService>;

export function createSubscriptionService(dependencies: SubscriptionParts) {
  const { events, keyring, catalogue, connections, environments, compileTemplate, wakeWorkers } = dependencies;

  async function getSubscription(context: Context, id: string): Promise<Subscription> {
    return requireAccess(context, await subscriptionStore(context.sql).find(context.tenantId, id));
  }

  async function requireTrigger({ tenantId }: Context, triggerKey: string) {
    const found = await catalogue.trigger(tenantId, triggerKey);
    if (found === undefined) {
      const message = "is not the key of a trigger; list them with GET /api/v2/connector/triggers";
      throw invalid("trigger_key", "unknown", message);
    }
    if (found.trigger.runtime.status === "catalog_only") {
      throw fail("FAILED_PRECONDITION", {
        public: `The trigger ${triggerKey} is only described: ${found.trigger.runtime.reason}`,
      });
    }
    return found;
  }

  async function requireConnection(
    context: Context,
    id: string,
    providerKey: string,
    environmentId: string,
  ): Promise<void> {
    const connection = await connections.find(context.sql, context.tenantId, id);
    if (connection === undefined) throw notFound("connection");
    requireEnvironmentAccess(context, connection.environmentKey);
    if (connection.environmentId !== environmentId) {
      throw invalid("connection_id", "environment", "must be a connection of the subscription's environment");
    }
    if (connection.providerKey !== providerKey) {
      throw invalid("connection_id", "provider", `must be a connection of the provider ${providerKey}`);
    }
    if (connection.status === "revoked") {
      throw fail("FAILED_PRECONDITION", { public: "The connection is revoked. Use another one." });
    }
  }

  /** Has the webhook registered at the provider, with new secrets. */
  async function register(context: Context, subscription: RegisteredPart, trigger: Trigger): Promise<void> {
    if (trigger.register === undefined || subscription.kind !== "webhook") return;
    const { sql, tenantId, nowMs } = context;
    const id = ulid(nowMs);
    const secrets: Secrets = {
      // A secret that the provider chooses is stored when it is known.
      ...(trigger.register.secret.kind === "generated" && { signing: newSecret() }),
      ...(needsUrlKey(trigger) && { urlKey: newSecret() }),
    };
    const { id: subscriptionId, triggerKey, connectionId, input } = subscription;
    await registrationStore(sql).insert({
      ...{ tenantId, id, subscriptionId, triggerKey, connectionId, input, createdAt: new Date(nowMs) },
      shard: shardOf(connectionId, shardCount),
      ...sealSecrets(keyring, secrets, registrationBinding({ tenantId, id })),
    });
  }

  /** The record after a change, with the event about it. */
  async function finish(context: Context, id: string, type: Parameters<EventRecorder["record"]>[1], data = {}) {
    const subscription = await getSubscription(context, id);
    const { environmentId, name, triggerKey } = subscription;
    await events.record(context, type, id, { environment_id: environmentId, name, trigger_key: triggerKey, ...data });
    context.afterCommit(wakeWorkers);
    return subscription;
  }

  async function lock(context: Context, id: string) {
    return requireAccess(context, await subscriptionStore(context.sql).lock(context.tenantId, id));
  }

  return {
    getSubscription,

    /** Returns the subscription, and the secret part of its URL if the caller has to register it. */
    async createSubscription(
      context: Context,
      input: NewSubscription,
    ): Promise<{ readonly subscription: Subscription; readonly urlKey: string | undefined }> {
      const { sql, tenantId, nowMs } = context;
      const environment = await environments.require(context, input.environmentId);
      const { provider, trigger } = await requireTrigger(context, input.triggerKey);
      await requireConnection(context, input.connectionId, provider.key, environment.id);
      requireValidInput(trigger, input.input);
      checkCondition("condition", input.condition, eventVariables);
      checkTarget(compileTemplate, input.target);
      requireTargetAccess(context, input.target);
      const secrets = ownSecrets(trigger, input.signingSecret);
      const store = subscriptionStore(sql);
      await lockFor(sql, "connector_trigger_subscriptions", tenantId);
      if (await store.isFull(tenantId)) {
        throw fail("FAILED_PRECONDITION", {
          public: `A tenant can have at most ${subscriptionsMax} trigger subscriptions. Delete one first.`,
        });
      }
      const id = ulid(nowMs) as SubscriptionId;
      const { name, triggerKey, connectionId, condition, target } = input;
      const { kind } = trigger;
      const row = { tenantId, id, name, triggerKey, connectionId, kind, input: input.input, condition, target };
      await store.insert({
        ...{ ...row, providerKey: provider.key, environmentId: environment.id, environmentKey: environment.key },
        sealed: sealSecrets(keyring, secrets, subscriptionBinding({ tenantId, id })),
        shard: shardOf(connectionId, shardCount),
        ...startOf(trigger, nowMs),
        createdAt: new Date(nowMs),
      });
      await register(context, row, trigger);
      const subscription = await finish(context, id, "connector.trigger.created", { connection_id: connectionId });
      return { subscription, urlKey: secrets.urlKey };
    },

    async updateSubscription(
      context: Context,
      id: string,
      change: SubscriptionChange,
      expectedVersion: number | undefined,
    ): Promise<Subscription> {
      const { sql, tenantId, nowMs } = context;
      if (isEmptyChange(change)) {
        return unchangedRecord(await getSubscription(context, id), expectedVersion, "trigger subscription");
      }
      const current = await lock(context, id);
      const { trigger } = await requireTrigger(context, current.triggerKey);
      const { input, signingSecret, ...settings } = change;
      if (input !== undefined) requireValidInput(trigger, input);
      if (change.condition !== undefined) checkCondition("condition", change.condition, eventVariables);
      if (change.target !== undefined) {
        checkTarget(compileTemplate, change.target);
        requireTargetAccess(context, change.target);
      }
      const restarts =
        input !== undefined && JSON.stringify(input) !== JSON.stringify(current.input) && !current.paused;
      const store = subscriptionStore(sql);
      const stored = {
        ...settings,
        input,
        sealed: signingSecret === undefined ? undefined : resealed(current, trigger, signingSecret),
        restart: restarts ? startOf(trigger, nowMs) : undefined,
      };
      if (!(await store.update(tenantId, id, stored, expectedVersion, new Date(nowMs)))) {
        throw updateRefusal(current, "trigger subscription");
      }
      if (restarts) {
        await registrationStore(sql).removeAll(tenantId, id);
        await register(context, { ...current, input }, trigger);
      }
      const { signingSecret: secret, ...named } = change;
      const fields = changedFields({ ...named, signing_secret: secret });
      return finish(context, id, "connector.trigger.updated", { fields });
    },

    async pauseSubscription(context: Context, id: string): Promise<Subscription> {
      const { sql, tenantId, nowMs } = context;
      const current = await lock(context, id);
      if (current.paused) return getSubscription(context, id);
      const restart = { readyAt: null, pollDueAt: null };
      await subscriptionStore(sql).update(tenantId, id, { paused: true, restart }, undefined, new Date(nowMs));
      await registrationStore(sql).removeAll(tenantId, id);
      return finish(context, id, "connector.trigger.paused");
    },

    async resumeSubscription(context: Context, id: string): Promise<Subscription> {
      const { sql, tenantId, nowMs } = context;
      const current = await lock(context, id);
      if (!current.paused) return getSubscription(context, id);
      const { trigger } = await requireTrigger(context, current.triggerKey);
      const change = { paused: false, restart: startOf(trigger, nowMs) };
      await subscriptionStore(sql).update(tenantId, id, change, undefined, new Date(nowMs));
      await register(context, current, trigger);
      return finish(context, id, "connector.trigger.resumed");
    },

    async deleteSubscription(context: Context, id: string): Promise<Subscription> {
      const { sql, tenantId } = context;
      const current = await lock(context, id);
      const subscription = await finish(context, id, "connector.trigger.deleted");
      await registrationStore(sql).removeAll(tenantId, id);
      await subscriptionStore(sql).remove(tenantId, current.id);
      return subscription;
    },
  };

  function resealed(current: Subscription & { readonly ciphertext: string }, trigger: Trigger, signing: string) {
    const binding = subscriptionBinding(current);
    const { urlKey } = openSecrets(keyring, current.ciphertext, binding) ?? {};
    const { signing: checked } = ownSecrets(trigger, signing);
    return sealSecrets(keyring, { signing: checked, urlKey }, binding);
  }
}

type RegisteredPart = Pick<Subscription, "id" | "kind" | "triggerKey" | "connectionId" | "input">;

/** Whether the URL needs a secret part: to protect an intake without signatures, or to recognise challenges. */
function needsUrlKey({ verify, challenge }: Trigger): boolean {
  return verify?.kind === "none" || challenge !== undefined;
}

/** The secrets of a subscription itself, which the caller or the service chooses. */
function ownSecrets(trigger: Trigger, signingSecret: string): Secrets {
  const isManual = trigger.kind === "webhook" && trigger.register === undefined;
  const isSigned = isManual && trigger.verify?.kind !== "none";
  if (isSigned && signingSecret === "") {
    throw invalid("signing_secret", "required", "is required: the secret or public key that the provider shows");
  }
  if (!isSigned && signingSecret !== "") {
    const reason = trigger.kind === "poll" ? "the provider is polled" : "the service chooses it";
    throw invalid("signing_secret", "absent", `must be absent: ${isManual ? "deliveries are not signed" : reason}`);
  }
  const problem = isSigned ? secretProblem(signingSecret) : undefined;
  if (problem !== undefined) throw invalid("signing_secret", "min_length", problem);
  return {
    ...(isSigned && { signing: signingSecret }),
    ...(isManual && needsUrlKey(trigger) && { urlKey: newSecret() }),
  };
}

/** Where the intake of a subscription starts. Webhooks that the caller registers are received from now on. */
function startOf(trigger: Trigger, nowMs: number): { readonly readyAt: Date | null; readonly pollDueAt: Date | null } {
  const now = new Date(nowMs);
  if (trigger.kind === "poll") return { readyAt: null, pollDueAt: now };
  return { readyAt: trigger.register === undefined ? now : null, pollDueAt: null };
}

function requireValidInput(trigger: Trigger, input: JsonObject): void {
  const violations = checkInput(trigger, input);
  const [first] = violations;
  if (first !== undefined) throw fail("INVALID_ARGUMENT", { public: `${first.field}: ${first.message}`, violations });
}

/** A caller cannot have a subscription do what it may not do itself. */
function requireTargetAccess({ principal }: Context, { kind }: Target): void {
  const scope = { workflow: "workflow_run:write", route: "route:write", record: undefined }[kind];
  if (scope === undefined || covers(principal.scopes, scope)) return;
  throw fail("PERMISSION_DENIED", { public: `A subscription with this target needs the scope ${scope}.` });
}

function requireAccess<S extends Subscription>(context: Context, subscription: S | undefined): S {
  if (subscription === undefined) throw notFound("trigger subscription");
  requireEnvironmentAccess(context, subscription.environmentKey);
  return subscription;
}
