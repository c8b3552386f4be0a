import type {
  CreateCandidateRequest,
  EvaluateGuardrailsRequest,
  CandidateGuardrail as GuardrailMessage,
  PreflightCandidateRequest,
  PromotionService as Rpc,
  CanaryStep as StepMessage,
} from "../../../../gen/service/api/promotion_pb.ts";
import type { Context } from "../../../chain/call.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { environmentIdOf, productionOf } from "../../../platform/access/index.ts";
import { timeRangeOf } from "../../../platform/records/index.ts";
import type { TargetSimulation } from "./artifact-kinds.ts";
import type { DecisionService } from "./decision-service.ts";
import type {
  Approval,
  Approver,
  CanaryStep,
  Candidate,
  Guardrail,
  NewArtifact,
  NewCandidate,
} from "./domain/candidate.ts";
import { callsOfVoidApproval, possibleCalls } from "./domain/states.ts";
import type { CandidateService, InspectedCandidate } from "./service.ts";
import type { StageService } from "./stage-service.ts";
import { candidateStore } from "./store.ts";

interface Dependencies {
  readonly candidates: CandidateService;
  readonly stages: StageService;
  readonly decisions: DecisionService;
}

const dayMs = 86_400_000;
const ppmPerPercent = 10_000;
const simulatedItems = 10_000;
const defaultGuardrails: readonly Guardrail[] = [{ metric: "success", limit: 0.9 }];

export function promotionHandlers({ candidates, stages, decisions }: Dependencies): Handlers<typeof Rpc> {
  const inspected = async (context: Context, candidate: Candidate) => ({
    candidate: fromCandidate(await candidates.inspect(context, candidate)),
  });
  return {
    async createCandidate(context, request) {
      return inspected(context, await candidates.createCandidate(context, toNewCandidate(request)));
    },

    async getCandidate(context, { candidateId }) {
      return inspected(context, await candidates.find(context, candidateId));
    },

    async listCandidates(context, request) {
      const { tenantId, sql, principal } = context;
      const { state } = request;
      const environmentId = await environmentIdOf(context, request.environmentId);
      const inProduction = productionOf(principal);
      const page = await context.page("candidates", request, [state, environmentId, inProduction], (wanted) =>
        candidateStore(sql).list(tenantId, { state, environmentId, inProduction }, wanted, { newestFirst: true }),
      );
      return { ...page, candidates: page.candidates.map(fromListedCandidate) };
    },

    preflightCandidate: {
      prepare(context: Context, { candidateId }: PreflightCandidateRequest) {
        return stages.preparePreflight(context, candidateId);
      },
      async run(
        context: Context,
        { candidateId }: PreflightCandidateRequest,
        prepared: Awaited<ReturnType<StageService["preparePreflight"]>>,
      ) {
        return inspected(context, await stages.preflight(context, candidateId, prepared));
      },
    },

    evaluateGuardrails: {
      prepare(context: Context, { candidateId }: EvaluateGuardrailsRequest) {
        return stages.prepareGuardrails(context, candidateId);
      },
      async run(
        context: Context,
        { candidateId }: EvaluateGuardrailsRequest,
        simulations: readonly TargetSimulation[],
      ) {
        return inspected(context, await stages.evaluateGuardrails(context, candidateId, simulations));
      },
    },

    async startCanary(context, { candidateId, steps, ...terms }) {
      const start = { ...terms, steps: steps.map(toCanaryStep) };
      return inspected(context, await stages.startCanary(context, candidateId, start));
    },

    async advanceCanary(context, { candidateId }) {
      return inspected(context, await stages.advanceCanary(context, candidateId));
    },

    async stopCanary(context, { candidateId }) {
      return inspected(context, await stages.stopCanary(context, candidateId));
    },

    async approveCandidate(context, { candidateId, note }) {
      return inspected(context, await decisions.approve(context, candidateId, note));
    },

    async promoteCandidate(context, { candidateId }) {
      return inspected(context, await decisions.promote(context, candidateId));
    },

    async rollBackCandidate(context, { candidateId, reason, force }) {
      return inspected(context, await decisions.rollBack(context, candidateId, reason, force));
    },

    async abortCandidate(context, { candidateId, reason }) {
      return inspected(context, await decisions.abort(context, candidateId, reason));
    },

    async listCandidateHistory(context, request) {
      const { tenantId, sql } = context;
      const { id } = await candidates.find(context, request.candidateId);
      const page = await context.page("entries", request, [id], (wanted) =>
        candidateStore(sql).listHistory(tenantId, id, wanted),
      );
      return { ...page, entries: page.entries.map(({ toState, ...entry }) => ({ ...entry, state: toState })) };
    },

    async replayCandidate(context, { candidateId, days = 7, itemsMax = 1000 }) {
      const candidate = await candidates.find(context, candidateId);
      const [from, until] = [new Date(context.nowMs - days * dayMs), new Date(context.nowMs)];
      const targets = await candidates.simulate(context, candidate, { from, until, itemsMax });
      const pools = targets.filter(({ routing }) => routing !== undefined);
      return { whatIf: { targets: pools.map(fromWhatIf), since: from } };
    },

    async simulateCandidate(context, { candidateId, itemsMax = simulatedItems, ...request }) {
      const candidate = await candidates.find(context, candidateId);
      const range = timeRangeOf(request, context.nowMs);
      const targets = await candidates.simulate(context, candidate, { ...range, itemsMax });
      return { simulation: { targets: targets.map(fromSimulation), ...range } };
    },
  };
}

function toNewCandidate(request: CreateCandidateRequest): NewCandidate {
  const { environmentId, name, description, packId, artifacts, guardrails, waiverReason } = request;
  return {
    ...{ environmentId, name, description, packId, waiverReason },
    artifacts: artifacts as readonly NewArtifact[],
    guardrails: guardrails.length === 0 ? defaultGuardrails : guardrails.map(toGuardrail),
  };
}

const toGuardrail = ({ metric, limit }: GuardrailMessage): Guardrail => ({
  metric: metric as Guardrail["metric"],
  limit,
});

const toCanaryStep = ({ percent, minDurationS, guardrails }: StepMessage): CanaryStep => ({
  ...{ sharePpm: Math.round(percent * ppmPerPercent), minDurationS, guardrails: guardrails.map(toGuardrail) },
});

/** Converts a candidate with its results. */
function fromCandidate(inspected: InspectedCandidate) {
  const { voidReasons, approvalsNeeded: _, approvers: __, ...candidate } = inspected;
  const { preflight, guardrailReport, canary, approval, promotion, state } = candidate;
  return {
    ...candidate,
    possibleCalls: voidReasons.length === 0 ? possibleCalls(candidate) : callsOfVoidApproval,
    preflight: preflight && { ...preflight, checkedAt: timeOf(preflight.checkedAt) },
    guardrailReport: guardrailReport && { ...guardrailReport, evaluatedAt: timeOf(guardrailReport.evaluatedAt) },
    canary: canary && {
      ...canary,
      running: state === "canary_running",
      percent: canary.sharePpm / ppmPerPercent,
      steps: canary.steps.map(({ sharePpm, ...step }) => ({ ...step, percent: sharePpm / ppmPerPercent })),
      step: canary.steps.length === 0 ? 0 : canary.step + 1,
      stepStartedAt: timeOf(canary.stepStartedAt),
      startedAt: timeOf(canary.startedAt),
      stoppedAt: state === "canary_running" ? undefined : timeOf(canary.stoppedAt),
    },
    approval: approval && fromApproval(approval, inspected),
    promotion: promotion && {
      ...promotion,
      promotedAt: timeOf(promotion.promotedAt),
      rolledBackBy: promotion.rolledBackBy ?? "",
      rolledBackAt: timeOf(promotion.rolledBackAt),
      rollbackReason: promotion.rollbackReason ?? "",
    },
  };
}

function fromApproval({ approvers: given, sha256 }: Approval, inspected: InspectedCandidate) {
  const { approvers, approvalsNeeded, voidReasons } = inspected;
  const last = fromApprover(given.at(-1)!);
  return { ...last, sha256, approvers: approvers.map(fromApprover), approvalsNeeded, voidReasons };
}

const fromApprover = ({ approvedBy, approvedAt, note }: Approver) => ({
  ...{ approvedBy, note, approvedAt: new Date(approvedAt) },
});

/** Converts a candidate of a list, without its results. */
const fromListedCandidate = (candidate: Candidate) => ({
  ...candidate,
  possibleCalls: possibleCalls(candidate),
  ...{ preflight: null, guardrailReport: null, canary: null, approval: null, promotion: null },
});

/** Converts what an artifact would have changed. */
const fromSimulation = ({ artifact: { kind, targetId, targetName }, routing, steps, ...report }: TargetSimulation) => ({
  ...{ ...report, ...(routing ?? noRouting), steps: steps ?? [], kind, targetId, targetName },
});

/** The lists of a target that routes nothing. */
const noRouting = { rules: [], recipients: [], reasons: [], constraints: [] };

/** Converts what a pool would have decided differently. */
const fromWhatIf = ({ examples, ...simulation }: TargetSimulation) => ({
  ...fromSimulation({ ...simulation, examples }),
  examples: examples.map(({ id, ...example }) => ({ ...example, decisionId: id })),
});

const timeOf = (text: string | undefined) => (text === undefined ? undefined : new Date(text));
