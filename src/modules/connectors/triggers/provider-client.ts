import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import { EgressError } from "../../../platform/egress/index.ts";
import {
  type AccountValues,
  type ActionAnswer,
  type AnswerClass,
  createRedactor,
  type GuardedHttp,
  type PageState,
  type PaginationSpec,
  type Provider,
  type Redactor,
  type RequestSpec,
  readResponse,
  renderRequest,
  secretsOf,
  type Trigger,
} from "../manifests/index.ts";
import { shortMessage } from "./domain/failure.ts";

/** A usable connection. */
export interface OpenAccount extends AccountValues {
  readonly credentialVersion: number;
}

/** Access to connections. A text instead of an account says why it cannot be used. */
export interface ConnectionAccess {
  open(
    tenantId: TenantId,
    connectionId: string,
    options?: { readonly minValidMs?: number | undefined },
  ): Promise<OpenAccount | string>;
  /** Reads the secrets of a connection, whether it can be used or not. A text says why they are not known. */
  readSecrets(tenantId: TenantId, connectionId: string): Promise<AccountValues | string>;
  /** Reacts to a provider that rejected the credentials; `renewed` if it is worth another attempt. */
  markRejected(tenantId: TenantId, connectionId: string, credentialVersion: number): Promise<string>;
}

/** A request of a trigger to its provider. */
export interface ProviderCall {
  readonly tenantId: TenantId;
  readonly connectionId: string;
  readonly provider: Provider;
  readonly trigger: Trigger;
  readonly request: RequestSpec;
  readonly input: JsonObject;
  /** Values of `{subscription.x}`. */
  readonly subscription?: Readonly<Record<string, string>> | undefined;
  /** Secrets besides the credentials, which no message may contain. */
  readonly secrets?: readonly string[] | undefined;
  /** Further parameters of the query or body. */
  readonly parameters?: readonly {
    readonly in: "query" | "body";
    readonly name: string;
    readonly value: string | number;
  }[];
  readonly paginate?: PaginationSpec | undefined;
  readonly page?: PageState | undefined;
  readonly signal: AbortSignal;
}

/** Why a request failed. The message contains no credentials. */
export interface ProviderFailure {
  readonly class: Exclude<AnswerClass, "ok"> | "connection_unusable" | "request_invalid";
  readonly message: string;
  readonly retryAtMs?: number | undefined;
  /** Whether the provider may have carried the request out. */
  readonly mayHaveArrived: boolean;
}

/** A provider's answer, not yet redacted. */
export interface ProviderAnswer {
  readonly class: "ok";
  readonly answer: Extract<ActionAnswer, { class: "ok" }>;
  readonly redactor: Redactor;
}

/** Sends requests of triggers. */
export type ProviderClient = (call: ProviderCall) => Promise<ProviderAnswer | ProviderFailure>;

interface Dependencies {
  readonly connections: ConnectionAccess;
  readonly http: GuardedHttp;
  readonly clock: Clock;
}

const timeoutMs = 30_000;
const bytesMax = 8 * 1024 * 1024;

/** Creates the client. It throws only when the signal aborts. */
export function createProviderClient({ connections, http, clock }: Dependencies): ProviderClient {
  async function attempt(call: ProviderCall, account: OpenAccount): Promise<ProviderAnswer | ProviderFailure> {
    const { provider, trigger, input, subscription, paginate, page, signal } = call;
    const nowMs = clock.now();
    const request = withParameters(call.request, call.parameters ?? []);
    const rendered = renderRequest(provider, request, { input, account, subscription, nowMs }, { paginate, page });
    const redactor = createRedactor([...secretsOf(provider, account), ...(call.secrets ?? [])]);
    if ("fault" in rendered) {
      return { class: "request_invalid", message: `${rendered.place} ${rendered.message}`, mayHaveArrived: false };
    }
    try {
      const answer = await http.send(provider, account.settings, rendered, { timeoutMs, bytesMax, signal });
      const expected = { errors: trigger.errors, response: "any", paginate } as const;
      const read = readResponse(provider, expected, answer, { nowMs, page });
      if (read.class === "ok") return { class: "ok", answer: read, redactor };
      const message = shortMessage(redactor.text(`${read.code}: ${read.message}`));
      return { class: read.class, message, retryAtMs: read.retryAtMs, mayHaveArrived: true };
    } catch (error) {
      if (!(error instanceof EgressError) || error.reason === "cancelled") throw error;
      const { message, mayHaveArrived } = error;
      return { class: error.reason === "denied" ? "permission_denied" : "unavailable", message, mayHaveArrived };
    }
  }

  return async (call) => {
    const { tenantId, connectionId } = call;
    for (let tries = 1; ; tries++) {
      const account = await connections.open(tenantId, connectionId);
      if (typeof account === "string") {
        const message = `The connection cannot be used: ${account}.`;
        return { class: "connection_unusable", message, mayHaveArrived: false };
      }
      const result = await attempt(call, account);
      if (result.class !== "auth_expired" || tries > 1) return result;
      const rejection = await connections.markRejected(tenantId, connectionId, account.credentialVersion);
      if (rejection === "accepted") return { ...result, class: "permission_denied" };
      if (rejection !== "renewed") return result;
    }
  };
}

/** Adds constant parameters to a request. */
function withParameters(request: RequestSpec, parameters: NonNullable<ProviderCall["parameters"]>): RequestSpec {
  if (parameters.length === 0) return request;
  const added = (where: "query" | "body") =>
    parameters
      .filter((each) => each.in === where)
      .map(({ name, value }) => [name, { kind: "constant", value }] as const);
  const query = added("query");
  const body = added("body");
  return {
    ...request,
    ...(query.length > 0 && { query: withMembers(request.query, query) }),
    ...(body.length > 0 && { body: withBodyMembers(request.body, body) }),
  };
}

type Members = readonly (readonly [string, { readonly kind: "constant"; readonly value: string | number }])[];

function withMembers(template: RequestSpec["query"], members: Members): NonNullable<RequestSpec["query"]> {
  const own = template?.kind === "object" ? template.members : [];
  return { kind: "object", members: [...own, ...members] };
}

function withBodyMembers(body: RequestSpec["body"], members: Members): NonNullable<RequestSpec["body"]> {
  if (body?.kind === "graphql") return { ...body, variables: withMembers(body.variables, members) };
  const kind = body?.kind === "form" ? "form" : "json";
  return { kind, value: withMembers(body?.value, members) };
}
