import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { fail } from "../../../../errors/index.ts";
import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import { type CelExpression, type CelVariables, compileCel } from "../../../../platform/cel/index.ts";
import type { Pool } from "../../pools/index.ts";
import { type ConstraintKind, constraintKinds, type GroupRef } from "./group.ts";

/** Variables available to keys. */
const admissionKeyVariables: CelVariables = { item: "map", pool: "map" };

/** The item fields from which keys are computed; the payload is excluded. */
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

/** The pool fields that keys and constraints use. */
export type KeyedPool = Pick<Pool, "tenantId" | "id" | "name" | "environmentId"> & {
  readonly config: Pick<Pool["config"], "admission">;
};

/** Computes the constraint groups of items. */
export type AdmissionKeys = ReturnType<typeof createAdmissionKeys>;

interface Constraint {
  readonly kind: ConstraintKind;
  /** The scope in which the key is unique. */
  readonly scopeId: string;
  /** Undefined if all items of the scope share one group. */
  readonly key: CelExpression | undefined;
}

const tenantKeysMax = 10_000;

/** Creates the key computation. The secret belongs to the installation; the key of each tenant is derived from it. */
export function createAdmissionKeys(secret: Buffer) {
  // Key objects are cached because creating one per call costs many times the HMAC.
  const tenantKeys = new BoundedCache<string, KeyObject>(tenantKeysMax);
  // A pool snapshot is immutable: its keys are compiled once and collected with it.
  const compiled = new WeakMap<object, readonly Constraint[]>();

  function tenantKey(tenantId: string): KeyObject {
    return tenantKeys.getOrCreate(tenantId, () =>
      createSecretKey(createHmac("sha256", secret).update(tenantId).digest()),
    );
  }

  function constraintsOf(pool: KeyedPool): readonly Constraint[] {
    const known = compiled.get(pool);
    if (known !== undefined) return known;
    const created = constraintKinds.flatMap((kind) => constraintOf(pool, kind) ?? []);
    compiled.set(pool, created);
    return created;
  }

  return {
    /**
     * Returns the groups of an item, one per constraint of the pool, in the order of evaluation. Throws
     * INVALID_ARGUMENT if a key cannot be computed; the error never contains item values.
     */
    refsOf(pool: KeyedPool, item: KeyedItem): readonly GroupRef[] {
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

/** Converts the item to its wire names for keys. */
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
    throw unusableKey(kind, "the expression is invalid");
  }
}

function keyText(kind: ConstraintKind, key: CelExpression, values: Readonly<Record<string, unknown>>): string {
  const text = textOf(evaluated(kind, key, values));
  if (text === undefined)
    throw unusableKey(kind, `${key.source} must be a string, a number, a boolean or a list of these`);
  return text;
}

function evaluated(kind: ConstraintKind, key: CelExpression, values: Readonly<Record<string, unknown>>): unknown {
  try {
    return key.evaluate(values);
  } catch {
    // Errors are logged, and the message of the engine may contain item values.
    const missing = key.paths.filter((path) => !hasPath(values, path.split(".")));
    const reads = missing.length === 0 ? "" : `, which has no ${missing.join(" and no ")}`;
    throw unusableKey(kind, `the expression ${key.source} failed for this item${reads}`);
  }
}

function hasPath(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return false;
  return hasPath((value as Readonly<Record<string, unknown>>)[name], rest);
}

/** Encodes a value unambiguously as JSON; undefined if it cannot be a key. */
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
  return fail("INVALID_ARGUMENT", { public: `The key of the pool's ${kind} constraint has no valid result: ${why}.` });
}
