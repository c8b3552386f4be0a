import { create, type MessageShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type Decision as DecisionMessage,
  type ItemRetry as ItemRetryMessage,
  type Requirements,
  type RouteResult as ResultMessage,
  type RouteBatchRequest,
  RouteBatchResponseSchema,
  type RouteItem,
  RouteItemSchema,
  type RouteRequest,
  RouteResponseSchema,
  RouteResultSchema,
  type RoutingService as Rpc,
  type TraceStep,
} from "../../../../gen/service/api/routing_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { Failure, invalid } from "../../../errors/index.ts";
import { dateOf } from "../../../platform/records/index.ts";
import { createMessageChecker } from "../../../platform/validation/index.ts";
import { fromItemOffer, type ItemRetry, type ItemsAfter, readItemOffers } from "../queues/index.ts";
import type { DecisionService } from "./decisions/decision-service.ts";
import { decisionStore, evidenceOf, type StoredDecision } from "./decisions/decision-store.ts";
import { type Evidence, type EvidenceTraceStep, matchedRuleIds } from "./domain/evidence.ts";
import { noRequirements, type RoutableItem } from "./domain/item.ts";
import { rejectionOf } from "./rejection.ts";
import { isRefused, outcomeOf, type RoutedItem, type RouteInput } from "./route-outcome.ts";
import type { RouteResult } from "./route-preparation.ts";
import type { RouteService } from "./route-service.ts";

/** The maximum size of an item's attributes and payload together. */
const itemBytesMax = 256 * 1024;

export function routingHandlers(service: RouteService, decisions: DecisionService): Handlers<typeof Rpc> {
  const checkItem = createMessageChecker(RouteItemSchema);
  return {
    route: {
      ownCommit(context: Context, request: RouteRequest, keyed) {
        const { dryRun } = request;
        const input = toRouteInput(request);
        if (input instanceof Failure) throw input;
        return service.route(context, input, dryRun, dryRun ? undefined : keyed, (routed) =>
          withDecision(RouteResponseSchema, fromRoutedItem(routed, context.nowMs, dryRun)),
        );
      },
    },

    routeBatch: {
      ownCommit(context: Context, request: RouteBatchRequest, keyed) {
        const { items, dryRun } = request;
        const inputs = items.map((item) => checkItem(item) ?? toRouteInput(item));
        return service.routeBatch(context, inputs, dryRun, dryRun ? undefined : keyed, (results) => {
          const messages = results.map((result) => fromResult(result, context.nowMs, dryRun));
          const response = create(RouteBatchResponseSchema);
          response.results = messages;
          response.acceptedCount = results.filter(isAccepted).length;
          return response;
        });
      },
    },

    async getDecision(context, { decisionId }) {
      const stored = await decisions.find(context, decisionId);
      const offers = await readItemOffers(context.sql, context.tenantId, stored.queued ? [stored.id] : []);
      return { decision: { ...fromStored(stored), offers: (offers.get(stored.id) ?? []).map(fromItemOffer) } };
    },

    async listDecisions(context, request) {
      const { sql, tenantId, principal } = context;
      const { poolId, outcome, recipientId, key, environmentId } = request;
      const { environmentMode } = principal;
      const filter = { poolId, outcome, recipientId, key, environmentId, environmentMode };
      const page = await context.page("decisions", request, Object.values(filter), (wanted) =>
        decisionStore(sql).list(tenantId, filter, wanted),
      );
      return { ...page, decisions: page.decisions.map(fromStored) };
    },

    async replayDecision(context, { decisionId }) {
      const { stored, differences, replayed } = await decisions.replay(context, decisionId);
      const decision = fromStored({ ...stored, ...replayed });
      return { replay: { identical: differences.length === 0, decision, differences } };
    },
  };
}

/** Converts a request to an item, or returns why it is invalid. */
function toRouteInput(item: RouteItem | RouteRequest): RouteInput | Failure {
  const attributes = item.attributes ?? {};
  const attributesJson = JSON.stringify(attributes);
  const payloadJson = item.payload === undefined ? "{}" : JSON.stringify(item.payload);
  if (isTooLarge(attributesJson, payloadJson))
    return invalid("payload", "max_bytes", "must be at most 256 KiB as JSON, together with the attributes");
  const routable: RoutableItem = {
    type: item.type,
    key: item.key,
    attributes,
    requirements: item.requirements === undefined ? noRequirements : requirementsOf(item.requirements),
    priority: item.priority,
  };
  return {
    poolId: item.poolId,
    item: routable,
    attributesJson,
    payloadJson,
    notBeforeMs: item.notBefore === undefined ? undefined : dateOf(item.notBefore).getTime(),
    ttlS: item.ttlS,
    rejectAsError: item.rejectAsError,
    ...(item.after.length > 0 && { after: toItemsAfter(item) }),
    ...(item.retry !== undefined && { retry: toItemRetry(item.retry) }),
  };
}

function toItemsAfter({ after, afterFailure }: Pick<RouteItem, "after" | "afterFailure">): ItemsAfter {
  return { ids: after, onFailure: afterFailure === "run" ? "run" : "cancel" };
}

function toItemRetry({ $typeName: _, $unknown: __, ...retry }: ItemRetryMessage): ItemRetry {
  return retry;
}

function requirementsOf({ skills, recipientId, excludedRecipientIds }: Requirements): RoutableItem["requirements"] {
  return { skills, recipientId, excludedRecipientIds };
}

function isTooLarge(attributesJson: string, payloadJson: string): boolean {
  // A UTF-16 code unit takes at most three bytes in UTF-8, so most items need no exact count.
  if (3 * (attributesJson.length + payloadJson.length) <= itemBytesMax) return false;
  return Buffer.byteLength(attributesJson) + Buffer.byteLength(payloadJson) > itemBytesMax;
}

function isAccepted(result: RouteResult): boolean {
  return !(result instanceof Failure) && outcomeOf(result) !== "rejected";
}

function fromResult(result: RouteResult, nowMs: number, dryRun: boolean): ResultMessage {
  if (!(result instanceof Failure)) {
    const rejection = rejectionOf(result, dryRun);
    if (rejection !== undefined) return fromResult(rejection, nowMs, dryRun);
    return withDecision(RouteResultSchema, fromRoutedItem(result, nowMs, dryRun));
  }
  return create(RouteResultSchema, {
    errorCode: result.code,
    errorMessage: result.message,
    violations: [...result.violations],
    retryAfterS: Number(result.headers["retry-after"] ?? 0),
  });
}

// Assigned after create(), which would otherwise copy the whole decision.
function withDecision<Desc extends typeof RouteResponseSchema | typeof RouteResultSchema>(
  desc: Desc,
  decision: DecisionMessage,
): MessageShape<Desc> {
  const message = create(desc) as MessageShape<Desc>;
  message.decision = decision;
  return message;
}

function fromRoutedItem(routed: RoutedItem, nowMs: number, dryRun: boolean): DecisionMessage {
  const { id, tenantId, snapshot, decision, seed, input, evidence, work } = routed;
  const outcome = outcomeOf(routed);
  // A plain object: create() costs more for its fields than the decision itself.
  return {
    $typeName: "service.api.Decision",
    decisionId: dryRun ? "" : id,
    tenantId,
    poolId: snapshot.pool.id,
    outcome,
    reason: evidence.reason,
    message: decision.message,
    retryAfterS: evidence.retryAfterMs / 1000,
    recipientId: isRefused(routed) ? "" : decision.recipientId,
    queueItemId: dryRun || work === undefined || work.delivery === "none" ? "" : id,
    matchedRuleIds: matchedRuleIds(evidence) as string[],
    trace: evidence.trace.map(fromStep),
    snapshotDigest: snapshot.digest,
    seed: BigInt(seed),
    experimentKeys: evidence.experimentKeys as string[],
    experiments: fromExperiments(evidence.experiments),
    dueAt: evidence.dueAtMs === undefined ? undefined : timestampFromMs(evidence.dueAtMs),
    existingItemId: evidence.existingItemId,
    decidedAt: timestampFromMs(nowMs),
    dryRun,
    type: input.item.type,
    key: input.item.key,
    // The caller learns of offers when it reads the decision.
    offers: [],
  };
}

function fromExperiments(experiments: Evidence["experiments"]): Record<string, string> {
  return Object.fromEntries(experiments.map(({ key, variant }) => [key, variant]));
}

function fromStep({ step, id = "", result, detail = "" }: EvidenceTraceStep): TraceStep {
  return { $typeName: "service.api.TraceStep", step, id, result, detail };
}

function fromStored(stored: StoredDecision) {
  const evidence = evidenceOf(stored);
  return {
    ...stored,
    decisionId: stored.id,
    reason: evidence.reason,
    message: evidence.message,
    retryAfterS: evidence.retryAfterMs / 1000,
    queueItemId: stored.queued ? stored.id : "",
    matchedRuleIds: matchedRuleIds(evidence),
    trace: evidence.trace.map(fromStep),
    snapshotDigest: stored.snapshotDigest.toString("hex"),
    experimentKeys: evidence.experimentKeys,
    experiments: fromExperiments(evidence.experiments),
    dueAt: evidence.dueAtMs === undefined ? undefined : timestampFromMs(evidence.dueAtMs),
    existingItemId: evidence.existingItemId,
    decidedAt: timestampFromMs(evidence.nowMs),
    dryRun: false,
    offers: [],
  };
}
