import type { DescMethod, MessageShape } from "@bufbuild/protobuf";
import type { Operation } from "../definitions/index.ts";
import { fail } from "../errors/index.ts";
import { grantedScopes, modeOf, type TenantId } from "../platform/access/index.ts";
import { createMessageChecker } from "../platform/validation/index.ts";
import type { Call, Next } from "./call.ts";
import type { EntitlementCheck } from "./entitlement.ts";
import type { TenantStateReader } from "./tenant-state.ts";

/** Who a call of the service itself is made for. */
export interface CallOrigin {
  readonly tenantId: TenantId;
  /** The part of the service that makes the call, as the subject of the caller: `service:workflow`. */
  readonly subject: string;
  /** Repeating a call with the same key has no further effect and returns the same response. */
  readonly idempotencyKey: string;
  readonly requestId: string;
  /** The key of the environment that the call is limited to like a key of the same environment; undefined for all. */
  readonly environmentKey?: string | undefined;
}

/** Performs operations on behalf of a tenant, in process. */
export type OperationCaller = <M extends DescMethod>(
  method: M,
  origin: CallOrigin,
  request: MessageShape<M["input"]>,
) => Promise<MessageShape<M["output"]>>;

interface Dependencies {
  readonly operations: readonly Operation[];
  readonly execute: Next;
  readonly readTenantState: TenantStateReader;
  readonly apiVersion: string;
  readonly checkEntitlement?: EntitlementCheck | undefined;
}

const neverAborted = new AbortController().signal;

/**
 * Creates a caller of operations without the steps that need a network request: authentication, authorization and rate
 * limits. Requests are validated, and entitlements, quotas and idempotency apply as for all callers.
 */
export function createOperationCaller(dependencies: Dependencies): OperationCaller {
  const { operations, execute, readTenantState, apiVersion, checkEntitlement } = dependencies;
  const byMethod = new Map(
    operations.map((operation) => [operation.method.parent.typeName + operation.method.name, operation]),
  );
  const checkers = new Map<DescMethod, ReturnType<typeof createMessageChecker>>();

  return async <M extends DescMethod>(method: M, origin: CallOrigin, request: MessageShape<M["input"]>) => {
    const operation = byMethod.get(method.parent.typeName + method.name);
    if (operation === undefined) throw new Error(`${method.name} is not an operation of this service.`);
    const { tenantId, subject, idempotencyKey, requestId, environmentKey } = origin;
    const tenantState = await readTenantState(tenantId);
    if (tenantState?.status !== "active") {
      throw fail("TENANT_SUSPENDED", { public: "The tenant is not active." });
    }
    if (operation.governance.entitlement !== "") await checkEntitlement?.(tenantId, operation);
    const check = checkers.get(method) ?? createMessageChecker(method.input);
    checkers.set(method, check);
    const refusal = check(request);
    if (refusal !== undefined) throw refusal;
    const roles = ["service"];
    const call: Call = {
      ...{ operation, plane: "internal", protocol: "connect", remoteAddress: "", peerCertificate: undefined },
      httpMethod: "POST",
      header: (name) => (name === "idempotency-key" ? idempotencyKey : undefined),
      signal: neverAborted,
      decode: () => request,
      body: undefined,
      responseHeaders: {},
      startedAtMs: performance.now(),
      waitedMs: 0,
      ...{ requestId, span: undefined, apiVersion, tenantId, tenantState, message: request },
      principal: {
        tenantId,
        subject,
        kind: "service",
        roles,
        scopes: grantedScopes(roles, []),
        environmentMode: modeOf(environmentKey),
      },
    };
    return (await execute(call)) as MessageShape<M["output"]>;
  };
}
