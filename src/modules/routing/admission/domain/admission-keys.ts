import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { fail } from "../../../../errors/index.ts";
import { type CelExpression, type CelVariables, compileCel } from "../../../../platform/cel/index.ts";
import type { Pool } from "../../pools/index.ts";
import { type ConstraintKind, constraintKinds, type GroupRef } from "./group.ts";

/** What keys may name. */
const admissionKeyVariables: CelVariables = { item: "map", pool: "map" };

/** What keys are made from: an item without its payload. */
export interface KeyedItem {
  readonly type: string;
  readonly key: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly requirements: {
    readonly skills: Readonly<Record<string, number>>;
    readonly recipientId: string;
    readonly excludedRecipientIds: readonly string[];
  };
  readonly priority: number;
}

/** The pool that keys see, and whose constraints they belong to. */
export type KeyedPool = Pick<Pool, "tenantId" | "id" | "name" | "environmentId"> & {
  readonly config: Pick<Pool["config"], "admission">;
};

/** Finds the groups that items fall into. */
export interface AdmissionKeys {
  /**
   * The groups of an item, one for each constraint of the pool, in the order in which they are asked.
   * Throws INVALID_ARGUMENT for an item that a key cannot be made from; what the key holds is never told.
   */
  refsOf(pool: KeyedPool, item: KeyedItem): readonly GroupRef[];
}

interface Constraint {
  readonly kind: ConstraintKind;
  /** What the key is unique in. */
  readonly scopeId: string;
  /** Undefined: all items of the scope share one group. */
  readonly key: CelExpression | undefined;
}

const tenantKeysMax = 10_000;

/** Makes the finder; the secret belongs to the installation and each tenant's own is derived from it. */
export function createAdmissionKeys(secret: Buffer): AdmissionKeys {
  // Key objects, because bare bytes are turned into one on every call, at many times the cost of the HMAC.
  const tenantKeys = new Map<string, KeyObject>();
  // A pool's snapshot is immutable, and its configuration with it: its keys are compiled once and go when it goes.
  const compiled = new WeakMap<object, readonly Constraint[]>();

  function tenantKey(tenantId: string): KeyObject {
    const known = tenantKeys.get(tenantId);
    if (known !== undefined) return known;
    if (tenantKeys.size >= tenantKeysMax) tenantKeys.clear();
    const made = createSecretKey(createHmac("sha256", secret).update(tenantId).digest());
    tenantKeys.set(tenantId, made);
    return made;
  }

  function constraintsOf(pool: KeyedPool): readonly Constraint[] {
    const known = compiled.get(pool);
    if (known !== undefined) return known;
    const made = constraintKinds.flatMap((kind) => constraintOf(pool, kind) ?? []);
    compiled.set(pool, made);
    return made;
  }

  return {
    refsOf(pool, item) {
      const constraints = constraintsOf(pool);
      if (constraints.length === 0) return [];
      const { tenantId, id, name, environmentId } = pool;
      const values = { item: celItem(item), pool: { id, name, environment_id: environmentId } };
      return constraints.map(({ kind, scopeId, key }) => {
        const text = key === undefined ? "" : keyText(kind, key, values);
        const groupId = createHmac("sha256", tenantKey(tenantId))
          .update(JSON.stringify([kind, scopeId, text]))
          .digest("hex")
          .slice(0, 32);
        return { kind, groupId };
      });
    },
  };
}

/** The item as keys see it: named as on the wire. */
function celItem({ type, key, attributes, requirements, priority }: KeyedItem): object {
  const { skills, recipientId, excludedRecipientIds } = requirements;
  return {
    type,
    key,
    attributes,
    requirements: { skills, recipient_id: recipientId, excluded_recipient_ids: excludedRecipientIds },
    priority,
  };
}

function constraintOf(pool: KeyedPool, kind: ConstraintKind): Constraint | undefined {
  const { singleton, debounce, throttle, concurrency } = pool.config.admission;
  const config = { singleton, debounce, throttle, concurrency }[kind];
  if (config === undefined) return undefined;
  const scopeId = kind === "concurrency" ? scopeIdOf(pool, concurrency!.scope) : `pool:${pool.id}`;
  return { kind, scopeId, key: config.key === "" ? undefined : compiledKey(kind, config.key) };
}

function scopeIdOf({ id, environmentId, tenantId }: KeyedPool, scope: "pool" | "environment" | "tenant"): string {
  return `${scope}:${{ pool: id, environment: environmentId, tenant: tenantId }[scope]}`;
}

function compiledKey(kind: ConstraintKind, source: string): CelExpression {
  try {
    return compileCel(source, admissionKeyVariables);
  } catch {
    throw unusableKey(kind, "it is no valid expression");
  }
}

function keyText(kind: ConstraintKind, key: CelExpression, values: Readonly<Record<string, unknown>>): string {
  const text = textOf(evaluated(kind, key, values));
  if (text === undefined) throw unusableKey(kind, "it is neither a text, a number, a boolean nor a list of these");
  return text;
}

function evaluated(kind: ConstraintKind, key: CelExpression, values: Readonly<Record<string, unknown>>): unknown {
  try {
    return key.evaluate(values);
  } catch {
    // The engine's own words may hold what the item holds, and errors are logged.
    throw unusableKey(kind, "it cannot be evaluated for this item");
  }
}

/** One spelling for one value, as JSON; undefined for what cannot be a key. */
function textOf(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    const texts = value.map(textOf);
    return texts.includes(undefined) ? undefined : `[${texts.join(",")}]`;
  }
  if (typeof value === "bigint") return String(value);
  return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value)
    ? JSON.stringify(value)
    : undefined;
}

function unusableKey(kind: ConstraintKind, why: string) {
  return fail("INVALID_ARGUMENT", { public: `The key of the pool's ${kind} constraint gives no group: ${why}.` });
}
