import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import type { PromotionPolicy } from "../../tenancy/index.ts";
import {
  bindingOf,
  excludedFrom,
  type GateReading,
  isSamePerson,
  validApprovers,
  voidReasons,
} from "./domain/approval-validity.ts";
import type { Candidate } from "./domain/candidate.ts";
import { callsOfVoidApproval, requireCall } from "./domain/states.ts";
import { type CandidateService, labelOf, type PromotionParts } from "./service.ts";
import { requireUnmoved, type StageService } from "./stage-service.ts";
import { candidateStore } from "./store.ts";

/** Approvals, promotions, rollbacks and aborts. */
export type DecisionService = ReturnType<typeof createDecisionService>;

/** Creates the service of approvals, promotions, rollbacks and aborts. */
export function createDecisionService(parts: PromotionParts, candidates: CandidateService, stages: StageService) {
  const { kinds, gate } = parts;

  /** The identities of a caller that may approve: a person who did not create the candidate, nor wrote it if authors are excluded. */
  async function requireApprover(
    context: Context,
    candidate: Candidate,
    policy: PromotionPolicy,
  ): Promise<readonly string[]> {
    if (context.principal.kind !== "user") {
      throw fail("PERMISSION_DENIED", {
        public:
          "Only a person can approve, not an API key or a browser that is signed in with one. Sign in as a member, or use a token of a person.",
        extra: { reason: "approver_not_a_person" },
      });
    }
    const identities = await parts.findIdentities(context);
    if (isSamePerson(identities, candidate.creators)) {
      throw fail("PERMISSION_DENIED", {
        public: "Whoever created the candidate cannot approve it: ask somebody else.",
        extra: { reason: "approver_is_creator" },
      });
    }
    if (isSamePerson(identities, excludedFrom(candidate, policy))) {
      throw fail("PERMISSION_DENIED", {
        public: "Whoever wrote a version of the candidate cannot approve it in this environment: ask somebody else.",
        extra: { reason: "approver_is_author" },
      });
    }
    return identities;
  }

  function requirePassedCanary({ canary }: Candidate): void {
    if (canary?.verdict === "passed") return;
    throw fail("FAILED_PRECONDITION", {
      public: "The canary is inconclusive: start it again, and stop it when it has enough keys.",
      extra: { reason: "canary_inconclusive", possible_calls: ["start_canary", "abort"] },
    });
  }

  function requireOpenGate({ state, reasons }: GateReading): void {
    if (state === "open") return;
    throw fail("FAILED_PRECONDITION", {
      public: `The gate is closed: ${reasons.join(", ")}.`,
      extra: { reason: "gate_closed", gate_reasons: reasons },
    });
  }

  return {
    async approve(context: Context, id: string, note: string): Promise<Candidate> {
      const { sql, tenantId, principal, nowMs } = context;
      const locked = await candidates.lock(context, id);
      const reading = await gate.readGate(sql, tenantId, locked);
      const observed = await kinds.observe(context, locked);
      const policy = await parts.readPolicy(context, locked.environmentId);
      // A void approval can be given again.
      if (voidReasons(locked, observed, reading, policy).length === 0) requireCall(locked, "approve");
      const identities = await requireApprover(context, locked, policy);
      requirePassedCanary(locked);
      requireUnmoved(observed);
      requireOpenGate(reading);
      const sha256 = bindingOf(locked, reading);
      // Nobody counts twice.
      const others = validApprovers(locked, reading, policy).filter(
        (other) => !isSamePerson(other.identities, identities),
      );
      const approver = { approvedBy: principal.subject, approvedAt: new Date(nowMs).toISOString(), note, identities };
      const approvers = [...others, approver];
      const isEnough = approvers.length >= policy.approvals;
      const count = policy.approvals === 1 ? "" : ` (${approvers.length} of ${policy.approvals})`;
      return candidates.apply(context, locked, {
        call: "approve",
        event: isEnough ? "promotion.approved" : "promotion.approval_given",
        change: { state: isEnough ? "approved" : "canary_stopped", approval: { approvers, sha256 } },
        summary: note === "" ? `Approved${count}.` : `Approved${count}: ${note}`,
      });
    },

    /** Activates all artifacts. The transaction of the call makes it all or nothing. */
    async promote(context: Context, id: string): Promise<Candidate> {
      const { sql, tenantId, principal, nowMs } = context;
      const locked = await candidates.lock(context, id);
      requireCall(locked, "promote");
      kinds.requireScopes(context, locked.artifacts);
      const observed = await kinds.lockTargets(context, locked);
      requireUnmoved(observed);
      const reading = await gate.readGate(sql, tenantId, locked);
      requireOpenGate(reading);
      const policy = await parts.readPolicy(context, locked.environmentId);
      const reasons = voidReasons(locked, observed, reading, policy);
      if (reasons.length > 0) {
        throw fail("FAILED_PRECONDITION", {
          public: `The approval is void: ${reasons.join(", ")}. It must be given again.`,
          extra: { reason: "approval_void", void_reasons: reasons, possible_calls: callsOfVoidApproval },
        });
      }
      for (const { kind, targetId, version } of locked.artifacts) {
        await kinds.ownerOf(kind).activate(context, targetId, version);
      }
      await candidateStore(sql).closeArtifacts(tenantId, locked.id);
      const handles = observed.map(({ artifact: { kind, targetId }, live }) => ({ kind, targetId, ...live }));
      return candidates.apply(context, locked, {
        call: "promote",
        event: "promotion.promoted",
        change: {
          state: "promoted",
          promotion: { promotedBy: principal.subject, promotedAt: new Date(nowMs).toISOString(), handles },
        },
        summary: `Activated ${locked.artifacts.map(labelOf).join(", ")}.`,
      });
    },

    /** Activates what the targets had before. */
    async rollBack(context: Context, id: string, reason: string, force: boolean): Promise<Candidate> {
      const { principal, nowMs } = context;
      if (force && reason.trim() === "") throw invalid("reason", "required", "is required for a forced rollback");
      const locked = await candidates.lock(context, id);
      requireCall(locked, "rollback");
      kinds.requireScopes(context, locked.artifacts);
      const observed = await kinds.lockTargets(context, locked);
      const replaced = observed.filter(({ artifact, live }) => live.sha256 !== artifact.sha256);
      if (replaced.length > 0 && !force) {
        const names = replaced.map(({ artifact }) => artifact.targetName).join(", ");
        throw fail("FAILED_PRECONDITION", {
          public: `${names} changed since the promotion. Roll back with force and a reason to discard that change.`,
          extra: { reason: "target_moved", targets: replaced.map(({ artifact }) => artifact.targetId) },
        });
      }
      const promotion = locked.promotion!;
      for (const { kind, targetId, version } of promotion.handles) {
        await kinds.ownerOf(kind).activate(context, targetId, version);
      }
      const rolledBack = { rolledBackBy: principal.subject, rolledBackAt: new Date(nowMs).toISOString() };
      return candidates.apply(context, locked, {
        call: "rollback",
        event: "promotion.rolled_back",
        change: { state: "rolled_back", promotion: { ...promotion, ...rolledBack, rollbackReason: reason } },
        summary: `Restored what the targets had before${force ? ", forced" : ""}${reason === "" ? "." : `: ${reason}`}`,
        data: { forced: force },
      });
    },

    async abort(context: Context, id: string, reason: string): Promise<Candidate> {
      const { sql, tenantId, nowMs } = context;
      const locked = await candidates.lock(context, id);
      requireCall(locked, "abort");
      const isRunning = locked.state === "canary_running";
      if (isRunning) await stages.endCanary(context, locked);
      await candidateStore(sql).closeArtifacts(tenantId, locked.id);
      const stoppedAt = new Date(nowMs).toISOString();
      return candidates.apply(context, locked, {
        call: "abort",
        event: "promotion.aborted",
        change: { state: "aborted", ...(isRunning && { canary: { ...locked.canary!, stoppedAt } }) },
        summary: `Aborted${isRunning ? ", the canary is stopped" : ""}${reason === "" ? "." : `: ${reason}`}`,
      });
    },
  };
}
