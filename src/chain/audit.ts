import { type DescField, type DescMessage, type Message, ScalarType } from "@bufbuild/protobuf";
import type { Operation } from "../definitions/index.ts";
import { Failure } from "../errors/index.ts";
import type { AuditEntry, AuditOutcome } from "../platform/audit/index.ts";
import { snakeCase } from "../platform/text/index.ts";
import type { Call, CallResponse } from "./call.ts";
import { isStream } from "./stream.ts";

/** Whether every call of an operation is audited: mutating operations and internal-only operations are. */
export function isAudited({ governance }: Operation): boolean {
  return governance.mutating || governance.internalOnly;
}

/** Builds the audit entry of a finished call from its response or its error. */
export function toAuditEntry(call: Call, error: unknown, response?: CallResponse): AuditEntry {
  const { operation, principal } = call;
  const code = error === undefined ? undefined : error instanceof Failure ? error.code : "INTERNAL";
  return {
    tenant_id: principal?.tenantId ?? "",
    actor: principal?.subject ?? "",
    actor_kind: principal?.kind ?? "unknown",
    operation: operation.id,
    resource: operation.governance.resource,
    action: operation.governance.action,
    outcome: outcomeOf(error),
    ...(code !== undefined && { error_code: code }),
    request_id: call.requestId,
    remote_address: call.remoteAddress,
    details: { ids: namedIds(call), ...(response !== undefined && { records: recordsIn(operation, response) }) },
  };
}

/** The largest number of response records that an entry names. */
const recordsMax = 100;

/** The records in a response, by type and id: what the call created, changed or returned. */
function recordsIn({ method, governance }: Operation, response: CallResponse): { type: string; id: string }[] {
  return isStream(response) ? [] : namedRecords(method.output, response, governance.resource).slice(0, recordsMax);
}

function namedRecords(desc: DescMessage, message: Message, type: string, depth = 0): { type: string; id: string }[] {
  const values = message as unknown as Record<string, unknown>;
  const nameFields = nameFieldsOf(desc, depth);
  if (nameFields !== undefined) {
    const id = nameFields.map(({ localName }) => values[localName] as string).join("/");
    return id === "" ? [] : [{ type, id }];
  }
  return desc.fields.flatMap((field) => {
    if (field.message === undefined || (field.fieldKind !== "message" && field.fieldKind !== "list")) return [];
    const { message: held } = field;
    const found = [values[field.localName] ?? []].flat() as Message[];
    return found.flatMap((each) => namedRecords(held, each, snakeCase(held.name), depth + 1));
  });
}

/** The fields that name a record: its id. The record of a response that has none is named by its key. */
function nameFieldsOf(desc: DescMessage, depth: number): readonly DescField[] | undefined {
  const idField = idFieldOf(desc);
  if (idField !== undefined) return [idField];
  if (depth !== 1) return undefined;
  const names = recordKeys.find((each) => each.every((name) => desc.fields.some((field) => field.name === name)));
  return names?.map((name) => desc.fields.find((field) => field.name === name)!);
}

/** The keys of records without an id: versions of packs and plans, and records that one field names. */
const recordKeys: readonly (readonly string[])[] = [
  ["publisher", "name", "version"],
  ["plan_key", "version"],
  ["key"],
  ["workflow_key"],
];

/** The field that names a record: `id`, or a first field such as `decision_id`. */
function idFieldOf({ field, fields: [first] }: DescMessage): DescField | undefined {
  if (field.id !== undefined) return field.id;
  return first?.scalar === ScalarType.STRING && first.name.endsWith("_id") && first.name !== "tenant_id"
    ? first
    : undefined;
}

function outcomeOf(error: unknown): AuditOutcome {
  if (error === undefined) return "succeeded";
  const status = error instanceof Failure ? error.entry.http : 500;
  return status === 401 || status === 403 ? "denied" : "failed";
}

/** The ids in the request, and everything that identifies a record in its path. No other request field is audited. */
function namedIds({ message, operation }: Call): Record<string, string> {
  if (message === undefined) return {};
  const fields = message as unknown as Record<string, unknown>;
  return Object.fromEntries(
    operation.method.input.fields
      .filter(({ name }) => name === "id" || name.endsWith("_id") || isInPath(operation, name))
      .flatMap((field) => (fields[field.localName] ? [[field.name, String(fields[field.localName])]] : [])),
  );
}

// A name that identifies a record is in the path. Any other one is caller data, which is not audited.
function isInPath({ bindings }: Operation, name: string): boolean {
  return bindings.some(({ path }) => path.includes(`{${name}}`) || path.includes(`{${name}=`));
}
