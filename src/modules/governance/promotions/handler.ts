import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  AbortCandidateResponseSchema,
  ApproveCandidateResponseSchema,
  type CreateCandidateRequest,
  CreateCandidateResponseSchema,
  EvaluateGuardrailsResponseSchema,
  GetCandidateResponseSchema,
  ListCandidateHistoryResponseSchema,
  ListCandidatesResponseSchema,
  PreflightCandidateResponseSchema,
  PromoteCandidateResponseSchema,
  ReplayCandidateResponseSchema,
  RollBackCandidateResponseSchema,
  type PromotionService as Rpc,
  StartCanaryResponseSchema,
  StopCanaryResponseSchema,
} from "../../../../gen/service/api/promotion_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { environmentIdOf, productionOf } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { fromCandidate, fromListedCandidate, fromReplays } from "./candidate-message.ts";
import type { DecisionService } from "./decision-service.ts";
import type { Candidate, Guardrail, HistoryEntry, NewArtifact, NewCandidate } from "./domain/candidate.ts";
import type { CandidateService } from "./service.ts";
import type { StageService } from "./stage-service.ts";
import { candidateStore } from "./store.ts";

interface Dependencies {
  readonly candidates: CandidateService;
  readonly stages: StageService;
  readonly decisions: DecisionService;
  readonly cursors: Cursors;
}

const dayMs = 86_400_000;
const defaultGuardrails: readonly Guardrail[] = [{ metric: "success", limit: 0.9 }];

export function promotionHandlers({ candidates, stages, decisions, cursors }: Dependencies): Handlers<typeof Rpc> {
  const inspected = async (context: Context, candidate: Candidate) => ({
    candidate: fromCandidate(await candidates.inspect(context, candidate)),
  });
  return {
    async createCandidate(context, request) {
      const created = await candidates.createCandidate(context, toNewCandidate(request));
      return create(CreateCandidateResponseSchema, await inspected(context, created));
    },

    async getCandidate(context, { candidateId }) {
      const found = await candidates.find(context, candidateId);
      return create(GetCandidateResponseSchema, await inspected(context, found));
    },

    async listCandidates(context, request) {
      const { tenantId, sql, operation, principal } = context;
      const { state } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const inProduction = productionOf(principal);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [state, environmentId, inProduction] },
        ({ id }: Candidate) => id,
        (wanted) => candidateStore(sql).list(tenantId, { state, environmentId, inProduction }, wanted),
      );
      return create(ListCandidatesResponseSchema, { ...page, candidates: page.items.map(fromListedCandidate) });
    },

    async preflightCandidate(context, { candidateId }) {
      const checked = await stages.preflight(context, candidateId);
      return create(PreflightCandidateResponseSchema, await inspected(context, checked));
    },

    async evaluateGuardrails(context, { candidateId }) {
      const evaluated = await stages.evaluateGuardrails(context, candidateId);
      return create(EvaluateGuardrailsResponseSchema, await inspected(context, evaluated));
    },

    async startCanary(context, { candidateId, ...terms }) {
      const started = await stages.startCanary(context, candidateId, terms);
      return create(StartCanaryResponseSchema, await inspected(context, started));
    },

    async stopCanary(context, { candidateId }) {
      const stopped = await stages.stopCanary(context, candidateId);
      return create(StopCanaryResponseSchema, await inspected(context, stopped));
    },

    async approveCandidate(context, { candidateId, note }) {
      const approved = await decisions.approve(context, candidateId, note);
      return create(ApproveCandidateResponseSchema, await inspected(context, approved));
    },

    async promoteCandidate(context, { candidateId }) {
      const promoted = await decisions.promote(context, candidateId);
      return create(PromoteCandidateResponseSchema, await inspected(context, promoted));
    },

    async rollBackCandidate(context, { candidateId, reason, force }) {
      const rolledBack = await decisions.rollBack(context, candidateId, reason, force);
      return create(RollBackCandidateResponseSchema, await inspected(context, rolledBack));
    },

    async abortCandidate(context, { candidateId, reason }) {
      const aborted = await decisions.abort(context, candidateId, reason);
      return create(AbortCandidateResponseSchema, await inspected(context, aborted));
    },

    async listCandidateHistory(context, request) {
      const { tenantId, sql, operation } = context;
      const { id } = await candidates.find(context, request.candidateId);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [id] },
        (entry: HistoryEntry) => entry.id,
        (wanted) => candidateStore(sql).listHistory(tenantId, id, wanted),
      );
      const entries = page.items.map(({ at, call, toState, actor, summary }) => ({
        ...{ at: timestampFromDate(at), call, state: toState, actor, summary },
      }));
      return create(ListCandidateHistoryResponseSchema, { ...page, entries });
    },

    async replayCandidate(context, { candidateId, days = 7, itemsMax = 1000 }) {
      const since = new Date(context.nowMs - days * dayMs);
      const reports = await candidates.replay(context, candidateId, since, itemsMax);
      return create(ReplayCandidateResponseSchema, { whatIf: fromReplays(reports, since) });
    },
  };
}

function toNewCandidate(request: CreateCandidateRequest): NewCandidate {
  const { environmentId, name, description, packId, artifacts, guardrails, waiverReason } = request;
  return {
    ...{ environmentId, name, description, packId, waiverReason },
    artifacts: artifacts.map(({ kind, ref, version, sha256 }) => ({
      ...{ kind: kind as NewArtifact["kind"], ref, version, sha256 },
    })),
    guardrails:
      guardrails.length === 0
        ? defaultGuardrails
        : guardrails.map(({ metric, limit }) => ({ metric: metric as Guardrail["metric"], limit })),
  };
}
