import type { Operation } from "../definitions/index.ts";
import { Failure } from "../errors/index.ts";
import type { AuditEntry, AuditOutcome } from "../platform/audit/index.ts";
import type { Call } from "./call.ts";

/** Whether every call of an operation is on record: one that changes something, or that gives out what others may not see. */
export function isAudited({ governance }: Operation): boolean {
  return governance.mutating || governance.internalOnly;
}

/** What the audit log says about a call that ended. */
export function auditEntryOf(call: Call, error: unknown): AuditEntry {
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
    details: { ids: namedIds(call) },
  };
}

function outcomeOf(error: unknown): AuditOutcome {
  if (error === undefined) return "succeeded";
  const status = error instanceof Failure ? error.entry.http : 500;
  return status === 401 || status === 403 ? "denied" : "failed";
}

/** The ids that the request names; nothing else of a request is ever audited. */
function namedIds({ message, operation }: Call): Record<string, string> {
  if (message === undefined) return {};
  const fields = message as unknown as Record<string, unknown>;
  return Object.fromEntries(
    operation.method.input.fields
      .filter(({ name }) => name === "id" || name.endsWith("_id") || (name === "key" && isInPath(operation, name)))
      .flatMap((field) => (fields[field.localName] ? [[field.name, String(fields[field.localName])]] : [])),
  );
}

// A key that names a record stands in the path; any other belongs to the caller, and may be anything.
function isInPath({ bindings }: Operation, name: string): boolean {
  return bindings.some(({ path }) => path.includes(`{${name}}`));
}
