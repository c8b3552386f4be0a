import type { Context } from "../../../../chain/call.ts";
import { fail, type Violation } from "../../../../errors/index.ts";
import { requireEnvironmentAccess, type TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { shortName } from "../../../../platform/document/index.ts";
import { nearestName } from "../../../../platform/text/index.ts";
import type { Connection } from "../../connections/index.ts";
import type { SlotValues } from "../domain/installation.ts";
import type { Slot } from "../domain/pack.ts";

/** Finds a record of a tenant by its id or name. */
type Find<T> = (sql: Sql, tenantId: TenantId, idOrName: string) => Promise<T | undefined>;

/** The records that slots can name. */
export interface SlotSources {
  readonly findConnection: Find<Pick<Connection, "id" | "environmentKey" | "providerKey" | "status">>;
  readonly findPool: Find<{ readonly id: string; readonly environmentKey: string }>;
  readonly findEnvironment: Find<{ readonly id: string; readonly key: string }>;
}

/** Slots with their values, and the names of those that have none. */
export interface ResolvedSlots {
  readonly values: SlotValues;
  readonly missing: readonly string[];
}

type Resolved = { readonly value: string | number } | { readonly problem: string };

const textMax = 200;

/** Creates a function that reads the values of slots and replaces names by ids. Throws INVALID_ARGUMENT for invalid values. */
export function createSlotResolver({ findConnection, findPool, findEnvironment }: SlotSources) {
  async function resolve(context: Context, { kind, providerKey }: Slot, given: unknown): Promise<Resolved> {
    const { sql, tenantId } = context;
    if (kind === "number") {
      return typeof given === "number" && Number.isFinite(given) ? { value: given } : { problem: "must be a number" };
    }
    if (typeof given !== "string" || given === "" || given.length > textMax) {
      return { problem: `must be a text of 1 to ${textMax} characters` };
    }
    switch (kind) {
      case "text":
        return textProblem(given) ?? { value: given };
      case "connection": {
        const connection = await findConnection(sql, tenantId, given);
        if (connection === undefined || connection.status === "revoked") {
          return { problem: "must be the id of a connection that is not revoked" };
        }
        requireEnvironmentAccess(context, connection.environmentKey);
        const fits = providerKey === "" || connection.providerKey === providerKey;
        return fits ? { value: connection.id } : { problem: `must be a connection of the provider ${providerKey}` };
      }
      case "pool": {
        const pool = await findPool(sql, tenantId, given);
        if (pool === undefined)
          return { problem: "must be the id of a pool that is not archived, or its name if it is unique" };
        requireEnvironmentAccess(context, pool.environmentKey);
        return { value: pool.id };
      }
      case "environment": {
        const environment = await findEnvironment(sql, tenantId, given);
        if (environment === undefined) return { problem: "must be the id or the key of an environment" };
        requireEnvironmentAccess(context, environment.key);
        return { value: environment.id };
      }
    }
  }

  return async (
    context: Context,
    slots: readonly Slot[],
    given: Readonly<Record<string, unknown>>,
  ): Promise<ResolvedSlots> => {
    const violations: Violation[] = unknownSlots(slots, given);
    const values: Record<string, string | number> = {};
    const missing: string[] = [];
    for (const slot of slots) {
      const wanted = Object.hasOwn(given, slot.name) ? given[slot.name] : slot.defaultValue;
      if (wanted === undefined) {
        missing.push(slot.name);
        continue;
      }
      const resolved = await resolve(context, slot, wanted);
      if ("value" in resolved) values[slot.name] = resolved.value;
      else violations.push({ field: `slots.${slot.name}`, rule: `slot.${slot.kind}`, message: resolved.problem });
    }
    if (violations.length === 0) return { values, missing };
    const [{ field, message }] = violations as [Violation];
    throw fail("INVALID_ARGUMENT", { public: `${field}: ${message}`, violations });
  };
}

/** Texts become part of templates and expressions, so characters that end or start code there are refused. */
function textProblem(text: string): { readonly problem: string } | undefined {
  if (/[\p{Cc}"'`\\{}<>[\]]/u.test(text)) {
    return { problem: "must not contain quotes, backslashes, brackets, braces or control characters" };
  }
  return text.startsWith("=") ? { problem: "must not start with =" } : undefined;
}

function unknownSlots(slots: readonly Slot[], given: Readonly<Record<string, unknown>>): Violation[] {
  const known = slots.map(({ name }) => name);
  return Object.keys(given).flatMap((name) => {
    if (known.includes(name)) return [];
    const near = nearestName(name.slice(0, 100), known);
    const hint = near === undefined ? `it has ${known.join(", ") || "none"}` : `did you mean ${near}?`;
    return [
      { field: `slots.${shortName(name)}`, rule: "unknown_field", message: `is not a slot of the pack; ${hint}` },
    ];
  });
}
