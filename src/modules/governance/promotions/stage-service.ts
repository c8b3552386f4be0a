import { type Context, PrepareAgain } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { canonicalJson } from "../../../platform/crypto/index.ts";
import type { QueueWait, SimulationReport } from "../../promotable-artifacts.ts";
import type { TargetSimulation } from "./artifact-kinds.ts";
import { excludedFrom, movedArtifacts, type ObservedArtifact } from "./domain/approval-validity.ts";
import { checkSteps, nextMove, verdictOfStop } from "./domain/canary-steps.ts";
import type { CanaryRecord, CanaryStep, Candidate, CandidateArtifact, Finding } from "./domain/candidate.ts";
import { needSimulation, overallVerdict, scoreGuardrails, waiveMissingTraffic } from "./domain/candidate-scores.ts";
import { requireCall } from "./domain/states.ts";
import type { CandidateService, PromotionParts } from "./service.ts";
import { candidateStore } from "./store.ts";

const dayMs = 86_400_000;
/** How far back guardrails and simulations look. */
const windowMs = 7 * dayMs;
/** The items that a preflight simulates for each target, and those that guardrails need. */
const preflightItems = 1000;
const guardrailItems = 10_000;
const percentDefault = 5;
const keysMinDefault = 100;
const marginDefault = 0.05;
const ppmPerPercent = 10_000;

/** The terms of a canary. They are fixed when it starts for the first time. */
export interface CanaryStart {
  readonly percent?: number | undefined;
  readonly keysMin?: number | undefined;
  readonly margin?: number | undefined;
  /** Instead of a percentage; empty for none. */
  readonly steps: readonly CanaryStep[];
}

/** The stages before an approval. */
export type StageService = ReturnType<typeof createStageService>;

/** Creates the service of the stages before an approval. */
export function createStageService(parts: PromotionParts, candidates: CandidateService) {
  const { kinds, tests, gate, scoreCanary } = parts;

  async function checkArtifact(
    context: Context,
    { environmentId }: Candidate,
    artifact: CandidateArtifact,
  ): Promise<{ impacts: Finding[]; blocking: Finding[] }> {
    const { kind, targetId, version, sha256, baseSha256 } = artifact;
    const owner = kinds.ownerOf(kind);
    const about = ({ code, message }: Pick<Finding, "code" | "message">): Finding => ({
      kind,
      targetId,
      code,
      message,
    });
    const found = await owner.findVersion(context, targetId, version);
    if (found?.sha256 !== sha256) {
      const message = "The version does not exist any more with the digest of the candidate.";
      return { impacts: [], blocking: [about({ code: "version_missing", message })] };
    }
    const { impacts, blocking } = await owner.check(context, environmentId, targetId, version);
    const unchanged = { code: "no_change", message: "The target has this content already." };
    return {
      impacts: impacts.map(about),
      blocking: [...blocking, ...(sha256 === baseSha256 ? [unchanged] : [])].map(about),
    };
  }

  /** Checks all artifacts against what their targets have now. */
  async function checkArtifacts(context: Context, candidate: Candidate) {
    const observed = await kinds.observe(context, candidate);
    const artifacts = observed.map(({ artifact, live: { version, sha256 } }) => ({
      ...{ ...artifact, baseVersion: version, baseSha256: sha256 },
    }));
    const impacts: Finding[] = [];
    const blocking: Finding[] = [];
    for (const artifact of artifacts) {
      const found = await checkArtifact(context, candidate, artifact);
      impacts.push(...found.impacts);
      blocking.push(...found.blocking);
    }
    return { artifacts, impacts, blocking };
  }

  const simulateWindow = (context: Context, candidate: Candidate, itemsMax: number) => {
    const [from, until] = [new Date(context.nowMs - windowMs), new Date(context.nowMs)];
    return candidates.simulate(context, candidate, { from, until, itemsMax });
  };

  /** Has the locked targets of a candidate serve a share of their keys with its artifacts. */
  async function beginCanary(context: Context, candidate: Candidate, sharePpm: number): Promise<void> {
    const { id: candidateId, environmentId, salt, artifacts } = candidate;
    for (const { kind, targetId, version } of artifacts) {
      const canary = { targetId, candidateId, artifactKind: kind, version, environmentId, salt, sharePpm };
      await kinds.ownerOf(kind).startCanary(context, canary);
    }
  }

  async function haltCanary(context: Context, { id, artifacts }: Candidate): Promise<void> {
    for (const { kind, targetId } of artifacts) await kinds.ownerOf(kind).stopCanary(context, targetId, id);
  }

  return {
    /** Simulates for a preflight, before its transaction; undefined if something blocks the candidate. */
    async preparePreflight(context: Context, id: string): Promise<PreparedPreflight | undefined> {
      const candidate = await candidates.find(context, id);
      requireCall(candidate, "preflight");
      const { artifacts, blocking } = await checkArtifacts(context, candidate);
      if (blocking.length > 0) return undefined;
      return { bases: basesOf(artifacts), reports: await simulateWindow(context, candidate, preflightItems) };
    },

    async preflight(context: Context, id: string, prepared: PreparedPreflight | undefined): Promise<Candidate> {
      const { sql, tenantId, nowMs } = context;
      const locked = await candidates.lock(context, id);
      requireCall(locked, "preflight");
      const { artifacts, impacts, blocking } = await checkArtifacts(context, locked);
      if (blocking.length === 0) {
        if (prepared?.bases !== basesOf(artifacts)) throw new PrepareAgain();
        impacts.push(...summariesOf(prepared.reports));
      }
      await candidateStore(sql).setBases(tenantId, locked.id, artifacts);
      const policy = await parts.readPolicy(context, locked.environmentId);
      if ((await parts.countApprovers(context, excludedFrom(locked, policy))) < policy.approvals) {
        const who = policy.excludeAuthors ? "the creator and the authors" : "the creator";
        const message =
          policy.approvals === 1
            ? `No member other than ${who} has a role that may approve. Somebody whose token has it must.`
            : `Fewer than ${policy.approvals} members other than ${who} have a role that may approve. People whose tokens have it must.`;
        impacts.push({ kind: "", targetId: "", code: "no_known_approver", message });
      }
      const passed = blocking.length === 0;
      const codes = blocking.map(({ code }) => code);
      return candidates.apply(context, locked, {
        call: "preflight",
        event: "promotion.preflight_completed",
        change: {
          state: passed ? "preflight_passed" : "preflight_blocked",
          preflight: { passed, impacts, blocking, checkedAt: new Date(nowMs).toISOString() },
          guardrailReport: null,
        },
        summary: passed
          ? `Passed with ${impacts.length} ${impacts.length === 1 ? "impact" : "impacts"}.`
          : `Blocked: ${codes.join(", ")}.`,
        data: { blocking: codes },
      });
    },

    /** Simulates for guardrails that limit it, before their transaction. */
    async prepareGuardrails(context: Context, id: string): Promise<readonly TargetSimulation[]> {
      const candidate = await candidates.find(context, id);
      requireCall(candidate, "evaluate_guardrails");
      return needSimulation(candidate.guardrails) ? simulateWindow(context, candidate, guardrailItems) : [];
    },

    async evaluateGuardrails(
      context: Context,
      id: string,
      simulations: readonly TargetSimulation[],
    ): Promise<Candidate> {
      const { nowMs } = context;
      const locked = await candidates.lock(context, id);
      requireCall(locked, "evaluate_guardrails");
      const since = new Date(nowMs - windowMs);
      const evidence = (await kinds.readEvidence(context, locked, since, undefined)).map((each) => ({
        ...each,
        simulation: simulations.find(
          ({ artifact: { targetKind, targetId } }) =>
            targetKind === each.artifact.targetKind && targetId === each.artifact.targetId,
        ),
      }));
      const scores = waiveMissingTraffic(scoreGuardrails(locked.guardrails, evidence, tests), locked.waiverReason);
      const verdict = overallVerdict(scores);
      const passed = verdict === "passed";
      const shown = scores.map(({ metric, verdict: each }) => `${metric} ${each}`);
      return candidates.apply(context, locked, {
        call: "evaluate_guardrails",
        event: "promotion.guardrails_evaluated",
        change: {
          state: passed ? "guardrails_passed" : "guardrails_failed",
          guardrailReport: { passed, scores, evaluatedAt: new Date(nowMs).toISOString() },
        },
        summary: `Guardrails: ${shown.join(", ")}.`,
        data: { verdict },
      });
    },

    async startCanary(context: Context, id: string, start: CanaryStart): Promise<Candidate> {
      const { percent, keysMin, margin, steps: askedSteps } = start;
      checkSteps(askedSteps);
      if (askedSteps.length > 0 && percent !== undefined) {
        throw invalid("percent", "exclusive", "must not be set together with steps, which have their own shares");
      }
      const { nowMs } = context;
      const locked = await candidates.lock(context, id);
      requireCall(locked, "start_canary");
      kinds.requireScopes(context, locked.artifacts);
      const earlier = locked.canary;
      const asked = {
        percent: percent ?? percentDefault,
        keys_min: keysMin ?? keysMinDefault,
        margin: margin ?? marginDefault,
      };
      const terms = earlier === null ? asked : termsOf(earlier);
      for (const [field, value] of Object.entries({ percent, keys_min: keysMin, margin })) {
        const fixed = terms[field as keyof typeof terms];
        if (value !== undefined && value !== fixed) {
          throw invalid(field, "immutable", `must stay ${fixed}: the canary has started with it`);
        }
      }
      const steps = earlier?.steps ?? askedSteps;
      if (askedSteps.length > 0 && canonicalJson(steps) !== canonicalJson(askedSteps)) {
        throw invalid("steps", "immutable", "must stay as they are: the canary has started with them");
      }
      const step = earlier?.step ?? 0;
      const share = steps[step]?.sharePpm ?? Math.round(terms.percent * ppmPerPercent);
      const observed = await kinds.lockTargets(context, locked);
      requireUnmoved(observed);
      await beginCanary(context, locked, share);
      const now = new Date(nowMs).toISOString();
      return candidates.apply(context, locked, {
        call: "start_canary",
        event: "promotion.canary_started",
        change: {
          state: "canary_running",
          approval: null,
          canary: {
            ...{ sharePpm: share, keysMin: terms.keys_min, margin: terms.margin },
            ...{ verdict: "inconclusive", scores: [], steps, step },
            startedAt: earlier?.startedAt ?? now,
            stepStartedAt: earlier?.stepStartedAt ?? now,
          },
        },
        summary: `Started for ${share / ppmPerPercent} % of the keys.`,
        data: { percent: share / ppmPerPercent },
      });
    },

    /** Gives the canary the share of its next step, if it may go on. */
    async advanceCanary(context: Context, id: string): Promise<Candidate> {
      const { nowMs } = context;
      const locked = await candidates.lock(context, id);
      requireCall(locked, "advance_canary");
      const canary = locked.canary!;
      const { verdict } = await scoreCanary(context, locked);
      if (nextMove(canary, verdict, nowMs) !== "advance") {
        throw fail("FAILED_PRECONDITION", {
          public: "The canary cannot go on: it has no further step, or its step has not passed for as long as it must.",
          extra: { reason: "step_not_passed", verdict },
        });
      }
      requireUnmoved(await kinds.lockTargets(context, locked));
      const step = canary.step + 1;
      const { sharePpm } = canary.steps[step]!;
      await haltCanary(context, locked);
      await beginCanary(context, locked, sharePpm);
      const [number, count, percent] = [step + 1, canary.steps.length, sharePpm / ppmPerPercent];
      return candidates.apply(context, locked, {
        call: "advance_canary",
        event: "promotion.canary_advanced",
        change: {
          state: "canary_running",
          canary: { ...canary, sharePpm, step, stepStartedAt: new Date(nowMs).toISOString() },
        },
        summary: `Step ${number} of ${count}: ${percent} % of the keys.`,
        data: { step: number, percent },
      });
    },

    async stopCanary(context: Context, id: string): Promise<Candidate> {
      const { nowMs } = context;
      const locked = await candidates.lock(context, id);
      requireCall(locked, "stop_canary");
      await this.endCanary(context, locked);
      const { verdict: scored, scores } = await scoreCanary(context, locked);
      const verdict = verdictOfStop(locked.canary!, scored, nowMs);
      await gate.recordCanary(context, locked, { verdict, scores });
      const reasons = scores.filter((score) => score.verdict === verdict).map(({ reason }) => reason);
      return candidates.apply(context, locked, {
        call: "stop_canary",
        event: "promotion.canary_stopped",
        change: {
          state: verdict === "failed" ? "canary_failed" : "canary_stopped",
          canary: { ...locked.canary!, verdict, scores, stoppedAt: new Date(nowMs).toISOString() },
        },
        summary: `The canary ${verdict === "inconclusive" ? "is inconclusive" : verdict}. ${reasons[0] ?? ""}`.trim(),
        data: { verdict },
      });
    },

    /** Stops a running canary on all targets. */
    async endCanary(context: Context, candidate: Candidate): Promise<void> {
      await kinds.lockTargets(context, candidate);
      await haltCanary(context, candidate);
    },
  };
}

/** What a preflight needs a simulation for. */
interface PreparedPreflight {
  readonly bases: string;
  readonly reports: readonly TargetSimulation[];
}

/** What the targets have, to compare with it. */
function basesOf(artifacts: readonly CandidateArtifact[]): string {
  return artifacts.map(({ baseVersion, baseSha256 }) => `${baseVersion} ${baseSha256}`).join();
}

/** The short form of a simulation: one finding for each target with recorded items. */
function summariesOf(reports: readonly TargetSimulation[]): Finding[] {
  return reports.flatMap(({ artifact: { kind, targetId }, ...report }) =>
    report.items === 0 ? [] : [{ kind, targetId, code: "simulated", message: summaryOf(report) }],
  );
}

/** A simulation in two sentences. */
function summaryOf({ items, changed, causes, routing }: SimulationReport): string {
  const why = causes.map(({ cause, items: count }) => `${cause} ${count}`).join(", ");
  const what = routing === undefined ? "runs" : "items";
  const change = `The candidate changes ${changed} of the last ${items} ${what}${why === "" ? "" : ` (${why})`}.`;
  if (routing === undefined || routing.waits.before.items + routing.waits.after.items === 0) return change;
  const { before, after } = routing.waits;
  return `${change} The longest waits for a worker (95th percentile) go from ${secondsOf(before)} to ${secondsOf(after)}.`;
}

const secondsOf = ({ p95Ms }: QueueWait) => `${(p95Ms / 1000).toFixed(1)} s`;

/** The terms that a canary has started with, by the names of their fields. */
function termsOf({ sharePpm, keysMin, margin }: CanaryRecord) {
  return { percent: sharePpm / ppmPerPercent, keys_min: keysMin, margin };
}

/** Throws FAILED_PRECONDITION if targets are not what they were at the preflight. */
export function requireUnmoved(observed: readonly ObservedArtifact[]): void {
  const artifacts = movedArtifacts(observed);
  if (artifacts.length === 0) return;
  const names = artifacts.map(({ kind, targetName }) => `${kind} ${targetName}`).join(", ");
  throw fail("FAILED_PRECONDITION", {
    public: `The base moved: ${names} changed since the preflight. Abort the candidate and create another one.`,
    extra: { reason: "base_moved", targets: artifacts.map(({ targetId }) => targetId) },
  });
}
