import { type Message, ScalarType } from "@bufbuild/protobuf";
import type { Correction, Failure } from "../errors/index.ts";
import type { Principal, TenantId } from "../platform/access/index.ts";
import type { Call } from "./call.ts";
import { isGuardedOperation, partOf } from "./corrections.ts";

/** Finds up to two records of a kind with this id or key that the caller may read. */
export type FindKeyedRecords = (
  caller: { readonly tenantId: TenantId; readonly principal: Principal },
  kind: string,
  idOrKey: string,
) => Promise<readonly { readonly id: string; readonly key: string }[]>;

/**
 * Corrects an id that was given where a key is taken, and the reverse: the record that was not found is looked up by the other.
 * Undefined if no single record is meant.
 */
export async function correctReference(
  { operation, protocol, message, httpMethod, tenantId, principal }: Call,
  { missing }: Failure,
  findRecords: FindKeyedRecords,
): Promise<Correction | undefined> {
  if (missing === undefined || message === undefined || tenantId === undefined || principal === undefined)
    return undefined;
  if (isGuardedOperation(operation) || protocol === "scim") return undefined;
  const kind = missing.replaceAll(" ", "_");
  for (const { name, jsonName, localName, fieldKind, scalar } of operation.method.input.fields) {
    const wanted = wantedBy(name, kind);
    if (wanted === undefined || fieldKind !== "scalar" || scalar !== ScalarType.STRING) continue;
    const value = (message as Message & Record<string, unknown>)[localName] as string;
    const found = value === "" ? [] : await findRecords({ tenantId, principal }, kind, value);
    const corrected = found.length === 1 ? found[0]![wanted] : value;
    if (corrected === value) continue;
    const isRest = protocol === "rest" || protocol === "mcp";
    const field = isRest ? name : jsonName;
    return {
      ...{ field, kind: wanted === "id" ? "key_for_id" : "id_for_key", value: corrected, confidence: "likely" },
      in: protocol === "rest" ? partOf(operation, httpMethod, name) : "body",
      patch: [{ op: "replace", path: `/${field}`, value: corrected }],
    };
  }
  return undefined;
}

/** What a field takes that may name a record of a kind; undefined for other fields. */
function wantedBy(name: string, kind: string): "id" | "key" | undefined {
  if (name === "id" || name === `${kind}_id`) return "id";
  return [`${kind}_key`, `${kind}_external_id`, "external_id", "key", "definition"].includes(name) ? "key" : undefined;
}
