import { hash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../chain/call.ts";
import { Failure, fail, invalid } from "../../../errors/index.ts";
import { requireEnvironmentAccess, type TenantId } from "../../../platform/access/index.ts";
import { notFound } from "../../../platform/db/index.ts";
import type { Json, JsonObject } from "../../../platform/document/index.ts";
import { inProgressFailure, type KeyedCall, keyName } from "../../../platform/idempotency/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { Page, PageRows } from "../../../platform/paging/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Connection, Connections, OpenConnection } from "../connections/index.ts";
import {
  type Action,
  type Catalogue,
  checkInput,
  type HttpRequest,
  type Provider,
  type RenderFailure,
} from "../manifests/index.ts";
import type { ActionMetrics } from "./action-metrics.ts";
import { connectionFailure, notExecutable, rateLimitedFailure } from "./domain/action-failure.ts";
import {
  type Execution,
  type ExecutionOrigin,
  type ExecutionOutcome,
  isRepeatable,
  safetyOf,
} from "./domain/execution.ts";
import { type Explanation, explain } from "./domain/explanation.ts";
import type { ActionExecutor } from "./execution/action-executor.ts";
import { type PreparedAction, renderPage, summaryOf } from "./execution/prepared-action.ts";
import { blockMsMax, limitScope, type RateLimits } from "./execution/rate-limits.ts";
import { type RawRequest, rawActionOf } from "./execution/raw-request.ts";
import { redactorOf } from "./execution/secret-redactor.ts";
import type { NewExecution } from "./records/begin-store.ts";
import { type ExecutionFilter, executionStore, startedAtOf } from "./records/execution-store.ts";
import { type ExecutionWriter, executeQuota } from "./records/execution-writer.ts";
import { storedOutput } from "./records/settle-store.ts";

/** A request to execute an action. */
export interface ActionCall {
  /** Empty for a raw request. */
  readonly actionKey: string;
  /** A request to send as it is, instead of an action. */
  readonly raw?: RawRequest | undefined;
  /** Empty for providers without authentication. */
  readonly connectionId: string;
  readonly input: JsonObject;
  /** The key that the provider deduplicates by; empty for a derived one. */
  readonly idempotencyKey: string;
  readonly dryRun: boolean;
  /** 0 for the time that the action allows. */
  readonly timeoutMs: number;
}

/** Who reads executions. */
type Caller = Pick<Context, "tenantId" | "sql" | "principal">;

/** A rendered request in which credentials are replaced. */
export interface RenderedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly bodyTruncated: boolean;
}

/** The result of a call: an ended execution, or the request of a dry run. */
export type ActionResult = { readonly execution: Execution } | { readonly request: RenderedRequest };

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly catalogue: Pick<Catalogue, "action" | "provider">;
  readonly connections: Pick<Connections, "open" | "find" | "actionVersion">;
  readonly executor: ActionExecutor;
  readonly writer: ExecutionWriter;
  readonly rateLimits: RateLimits;
  readonly metrics: ActionMetrics;
  /** The longest time that a caller waits for a response. */
  readonly callTimeoutMs: number;
}

/** Time to store the outcome and to respond, within the time of a call. */
const responseMs = 2000;
/** Background work waits for slow providers longer than callers can. */
const serviceTimeoutMs = 120_000;
/** Time to store the outcome after the deadline, before other nodes give the execution up. */
const leaseMarginMs = 15_000;
const dryRunBodyBytesMax = 64 * 1024;

export type ActionService = ReturnType<typeof createActionService>;

export function createActionService(dependencies: Dependencies) {
  const { db, clock, catalogue, connections, executor, writer, rateLimits, metrics, callTimeoutMs } = dependencies;
  const inFlight = new Set<Promise<unknown>>();

  /** Checks everything that can be checked before anything is stored or sent. */
  async function prepare(
    context: Pick<Context, "tenantId" | "nowMs" | "principal">,
    call: ActionCall,
    idempotencyKey: string,
  ): Promise<{ prepared: PreparedAction; request: HttpRequest }> {
    const { tenantId, nowMs } = context;
    if (call.raw !== undefined) return prepareRaw(context, call, call.raw);
    const { provider, action } = await findAction(tenantId, call);
    const violations = checkInput(action, call.input);
    if (violations[0] !== undefined) {
      const [{ field, message }] = violations as [(typeof violations)[number]];
      throw fail("INVALID_ARGUMENT", { public: `${field}: ${message}`, violations });
    }
    const connection = await openConnection(context, provider, call);
    const prepared = { tenantId, provider, action, input: call.input as Json, connection, idempotencyKey };
    const request = renderPage(prepared, undefined, nowMs);
    if ("fault" in request) throw renderFailure(request);
    return { prepared, request };
  }

  async function prepareRaw(
    { tenantId, nowMs, principal }: Pick<Context, "tenantId" | "nowMs" | "principal">,
    { connectionId }: ActionCall,
    raw: RawRequest,
  ): Promise<{ prepared: PreparedAction; request: HttpRequest }> {
    const connection = await connections.open(tenantId, connectionId, { principal });
    if (typeof connection === "string") throw connectionFailure(connection);
    const { providerKey } = connection;
    const version = await connections.actionVersion(tenantId, connectionId, providerKey);
    const provider = await catalogue.provider(tenantId, providerKey, version);
    if (provider === undefined) throw notFound("provider");
    const prepared = { tenantId, provider, input: {}, connection, idempotencyKey: "", ...rawActionOf(provider, raw) };
    const request = renderPage(prepared, undefined, nowMs);
    if ("fault" in request) throw renderFailure(request);
    return { prepared, request };
  }

  /** The action in the version that the connection is pinned to, or in the newest one. */
  async function findAction(
    tenantId: TenantId,
    { actionKey: key, connectionId }: ActionCall,
  ): Promise<{ provider: Provider; action: Action }> {
    const [providerKey = ""] = key.split(".", 1);
    const version =
      connectionId === "" ? undefined : await connections.actionVersion(tenantId, connectionId, providerKey);
    const found = await catalogue.action(tenantId, key, version);
    if (found === undefined) {
      const place =
        version === undefined ? "" : ` in version ${version}, which the provider config of the connection pins`;
      throw fail("NOT_FOUND", {
        public: `There is no action ${key}${place}. List the actions to see which ones exist.`,
      });
    }
    const refusal = notExecutable(found.action);
    if (refusal !== undefined) throw refusal;
    return found;
  }

  async function openConnection(
    { tenantId, principal }: Pick<Context, "tenantId" | "principal">,
    provider: Provider,
    { connectionId, dryRun }: ActionCall,
  ): Promise<OpenConnection | undefined> {
    if (connectionId === "") {
      const isOpen = provider.authModes.includes("none") && provider.settings.every(({ required }) => !required);
      if (isOpen) return undefined;
      throw invalid("connection_id", "required", `is required: ${provider.name} needs a connection`);
    }
    // A dry run sends nothing, so credentials that are valid for a moment are enough.
    const opened = await connections.open(tenantId, connectionId, { principal, ...(dryRun && { minValidMs: 0 }) });
    if (typeof opened === "string") throw connectionFailure(opened);
    if (opened.providerKey !== provider.key) {
      const message = `is a connection of ${opened.providerKey}; the action needs one of ${provider.key}`;
      throw invalid("connection_id", "provider", message);
    }
    return opened;
  }

  /** The connection of an execution, if any. Throws if it belongs to an environment that the caller may not use. */
  async function requireAccess(
    context: Caller,
    { connectionId }: Pick<Execution, "connectionId">,
  ): Promise<Connection | undefined> {
    if (connectionId === "") return undefined;
    const connection = await connections.find(context.sql, context.tenantId, connectionId);
    if (connection !== undefined) requireEnvironmentAccess(context, connection.environmentKey);
    return connection;
  }

  /** Finds an execution. Throws if it used a connection of an environment that the caller may not use. */
  async function findExecution(context: Caller, id: string): Promise<Execution | undefined> {
    const execution = await executionStore(context.sql).find(context.tenantId, id);
    if (execution !== undefined) await requireAccess(context, execution);
    return execution;
  }

  async function run<Response extends Message>(
    context: Context,
    call: ActionCall,
    keyed: KeyedCall | undefined,
    toResponse: (result: ActionResult) => Response,
  ): Promise<Response | "duplicate"> {
    const { tenantId } = context;
    const quota = context.quotaOf(executeQuota);
    if (!call.dryRun && (await writer.check(tenantId, quota, keyed)) === "duplicate") return "duplicate";
    const id = ulid(context.nowMs);
    const idempotencyKey = call.idempotencyKey || (keyed === undefined ? id : derivedKey(keyed));
    const ready = await prepare(context, call, idempotencyKey).catch(async (error) => {
      // A repeat gets the first response, also if the connection is unusable by now.
      if (error instanceof Failure && (await writer.isRecorded(keyed))) return "duplicate" as const;
      throw error;
    });
    if (ready === "duplicate") return ready;
    const { prepared, request } = ready;
    if (call.dryRun) return toResponse({ request: redactedRequest(prepared, request) });

    const execution = newExecution(context, call, {
      id,
      prepared,
      request,
      timeoutMs: timeoutOf(context, call, prepared),
    });
    const deadlineMs = clock.now() + execution.leaseMs - leaseMarginMs;
    const blockedMs = rateLimits.blockedUntilMs(tenantId, execution.limitScope);
    if (blockedMs > deadlineMs) {
      if (await writer.isRecorded(keyed)) return "duplicate";
      metrics.limited("refused");
      throw rateLimitedFailure(blockedMs, clock.now());
    }
    const record = keyed?.record(toResponse({ execution: runningExecution(execution) }));
    const begun = await writer.begin({ execution, record, quota }, keyed);
    if (begun === "duplicate") return begun;
    rateLimits.block(tenantId, execution.limitScope, begun.blockedUntilMs);
    const outcome = begun.isRevoked ? revokedOutcome : await executor(prepared, request, deadlineMs);
    const ended = endedExecution(execution, outcome, clock.now());
    await settle(execution, ended, keyed, toResponse);
    return toResponse({ execution: ended });
  }

  /** Commits the outcome, with the response that repeats of the call get. */
  async function settle<Response extends Message>(
    execution: NewExecution,
    ended: EndedExecution,
    keyed: KeyedCall | undefined,
    toResponse: (result: ActionResult) => Response,
  ): Promise<void> {
    const { tenantId, id, safety, limitScope: scope } = execution;
    const { outcome, endedAt } = ended;
    const endedAtMs = endedAt.getTime();
    const { omitted } = storedOutput(outcome.output);
    const stored = omitted ? { ...ended, output: undefined, outputOmitted: true } : ended;
    const isLimit = outcome.class === "ok" || outcome.class === "rate_limited";
    const untilMs = isLimit && outcome.code !== "limited" ? (outcome.retryAtMs ?? 0) : 0;
    await writer.settle({
      ...{ execution, tenantId, id, outcome, endedAtMs },
      limit: untilMs > endedAtMs ? { scope, untilMs: Math.min(untilMs, endedAtMs + blockMsMax) } : undefined,
      record: keyed?.record(toResponse({ execution: stored })),
      releasesKey: isRepeatable(outcome.status, safety),
    });
    metrics.ended(tenantId, outcome.status, execution.origin);
  }

  /** The time that an execution may take. */
  function timeoutOf({ principal }: Context, { timeoutMs }: ActionCall, { action }: PreparedAction): number {
    const waitMs = principal.kind === "service" ? serviceTimeoutMs : Math.max(1000, callTimeoutMs - responseMs);
    return Math.min(timeoutMs === 0 ? action.timeoutMs : timeoutMs, action.timeoutMs, waitMs);
  }

  return {
    /** Executes an action. The response is built from the ended execution, whatever its status is. */
    execute<Response extends Message>(
      context: Context,
      call: ActionCall,
      keyed: KeyedCall | undefined,
      toResponse: (result: ActionResult) => Response,
    ): Promise<Response | "duplicate"> {
      const running = run(context, call, keyed, toResponse);
      inFlight.add(running);
      return running.finally(() => inFlight.delete(running));
    },

    /** The execution of a call whose response was stored before it ended; throws IDEMPOTENCY_IN_PROGRESS until it has. */
    async endedExecution(tenantId: TenantId, id: string): Promise<Execution> {
      const execution = await executionStore(db.sql).find(tenantId, id);
      if (execution === undefined || execution.status === "running") throw inProgressFailure();
      return execution;
    },

    findExecution,

    async getExecution(context: Caller, id: string): Promise<Execution> {
      const execution = await findExecution(context, id);
      if (execution === undefined) throw notFound("execution");
      return execution;
    },

    async listPage(context: Caller, filter: ExecutionFilter, page: Page): Promise<PageRows<Execution>> {
      const { tenantId, sql } = context;
      if (filter.connectionId !== "" && (await requireAccess(context, filter)) === undefined) {
        throw notFound("connection");
      }
      return executionStore(sql).list(tenantId, filter, page);
    },

    async explainExecution(context: Caller, id: string): Promise<Explanation> {
      return this.explainFound(context, await this.getExecution(context, id));
    },

    async explainFound(
      { tenantId, sql }: Pick<Context, "tenantId" | "sql">,
      execution: Execution,
    ): Promise<Explanation> {
      const { connectionId, actionKey } = execution;
      const connection = connectionId === "" ? undefined : await connections.find(sql, tenantId, connectionId);
      const found =
        (await catalogue.action(tenantId, actionKey, execution.manifestVersion)) ??
        (await catalogue.action(tenantId, actionKey));
      return explain(execution, { action: found?.action, connection });
    },

    /** Resolves when no execution is in progress. */
    async idle(): Promise<void> {
      await Promise.allSettled(inFlight);
    },
  };
}

/** The key for the provider, equal for every repeat of a call with the same Idempotency-Key. */
function derivedKey({ claim }: KeyedCall): string {
  return hash("sha256", keyName(claim), "hex").slice(0, 40);
}

/** An execution that was just performed. */
interface EndedExecution extends Execution {
  readonly endedAt: Date;
  readonly outcome: ExecutionOutcome;
}

const revokedOutcome: ExecutionOutcome = {
  ...{
    status: "failed",
    class: "auth_expired",
    code: "revoked",
    message: "The connection is revoked. Nothing was sent.",
  },
  ...{ attempts: [], output: undefined, pagesTruncated: false, retryAtMs: undefined },
};

interface Planned {
  readonly id: string;
  readonly prepared: PreparedAction;
  readonly request: HttpRequest;
  readonly timeoutMs: number;
}

const origins: Readonly<Record<string, ExecutionOrigin>> = {
  "service:workflow": "workflow",
  "service:routing": "routing",
};

function newExecution(context: Context, call: ActionCall, { id, prepared, request, timeoutMs }: Planned): NewExecution {
  const { tenantId, principal, requestId } = context;
  const { provider, action } = prepared;
  const redactor = redactorOf(prepared);
  const summary = summaryOf(prepared, request);
  return {
    ...{ tenantId, id, actionKey: action.key, providerKey: provider.key, manifestVersion: provider.version },
    connectionId: call.connectionId,
    request: { ...summary, host: redactor.text(summary.host), path: redactor.text(summary.path) },
    idempotencyKey: action.mutation.idempotency === "key" ? prepared.idempotencyKey : "",
    origin: (principal.kind === "service" ? origins[principal.subject] : undefined) ?? "api",
    originId: requestId,
    safety: safetyOf(action),
    limitScope: limitScope(call.connectionId, provider.key),
    leaseMs: timeoutMs + leaseMarginMs,
  };
}

function runningExecution({ limitScope: _, leaseMs: __, ...execution }: NewExecution): Execution {
  return {
    ...execution,
    ...{ status: "running", class: "", code: "", message: "", attempts: [], output: undefined },
    ...{
      outputOmitted: false,
      pagesTruncated: false,
      retryAt: null,
      startedAt: startedAtOf(execution.id),
      endedAt: null,
    },
  };
}

function endedExecution(execution: NewExecution, outcome: ExecutionOutcome, nowMs: number): EndedExecution {
  const { retryAtMs, ...rest } = outcome;
  const retryAt = retryAtMs === undefined ? null : new Date(retryAtMs);
  return { ...runningExecution(execution), ...rest, retryAt, endedAt: new Date(nowMs), outcome };
}

/** The request of a dry run, in which credentials are replaced wherever they are. */
function redactedRequest(prepared: PreparedAction, { method, url, headers, body = "" }: HttpRequest): RenderedRequest {
  const redactor = redactorOf(prepared);
  const named = Object.entries(headers).map(([name, value]) => [
    name,
    name === "authorization" ? redactedScheme(value) : redactor.text(value),
  ]);
  const text = redactor.text(typeof body === "string" ? body : body.toString("base64"));
  const bytes = Buffer.from(text);
  const bodyTruncated = bytes.length > dryRunBodyBytesMax;
  return {
    ...{ method, url: redactor.text(url), headers: Object.fromEntries(named), bodyTruncated },
    body: bodyTruncated
      ? bytes
          .subarray(0, dryRunBodyBytesMax)
          .toString()
          .replace(/\ufffd$/, "")
      : text,
  };
}

/** The scheme of an authorization header. The rest is secret in every scheme, also where it is derived from credentials. */
function redactedScheme(value: string): string {
  const [scheme] = /^[A-Za-z0-9-]+(?= )/.exec(value) ?? [""];
  return `${scheme} [redacted]`.trim();
}

function renderFailure({ place, message }: RenderFailure): Failure {
  const isInput = place.startsWith("input");
  return isInput
    ? invalid(place, "value", message)
    : fail("INVALID_ARGUMENT", { public: `The request cannot be built: ${place} ${message}.` });
}
