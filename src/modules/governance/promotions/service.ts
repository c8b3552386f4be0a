import { randomBytes } from "node:crypto";
import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import { covers, requireEnvironment, requireEnvironmentAccess, type TenantId } from "../../../platform/access/index.ts";
import { notFound, type Sql } from "../../../platform/db/index.ts";
import { createTenantConcurrencyLimiter } from "../../../platform/event-loop/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { newStamps } from "../../../platform/records/index.ts";
import type { GuardrailTests } from "../../experiments/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { PromotionPolicy } from "../../tenancy/index.ts";
import type { ArtifactKinds, SimulationRange, TargetSimulation } from "./artifact-kinds.ts";
import type { CanaryResult, CanaryScorer } from "./canary-scorer.ts";
import { type GateReading, validApprovers, voidReasons } from "./domain/approval-validity.ts";
import {
  type Approver,
  type Candidate,
  type CandidateArtifact,
  type CandidateId,
  type NewCandidate,
  openCandidatesMax,
} from "./domain/candidate.ts";
import { type CandidateCall, type CandidateState, isOpen } from "./domain/states.ts";
import { type CandidateChange, candidateStore } from "./store.ts";

/** Promotions' dependencies on evidence packs. */
export interface EvidenceGate {
  /** Whether the evidence of a candidate is sufficient. Called before an approval and in the transaction of a promotion. */
  readGate(sql: Sql, tenantId: TenantId, candidate: Candidate): Promise<GateReading>;
  /** Adds a canary's result to the pack of a candidate, if it has one. */
  recordCanary(context: Context, candidate: Candidate, result: CanaryResult): Promise<void>;
  /** Attaches a pack to a new candidate, in its transaction. Throws if there is no such pack in its environment. */
  attachPack(context: Context, candidate: Candidate, packId: string): Promise<void>;
}

/** What promotions know about people, by their identities. */
export interface People {
  /** The people behind a caller: its subject, its member, and who created its key. */
  readonly findIdentities: (context: Context) => Promise<readonly string[]>;
  /** The people behind the subjects that versions were created by. */
  readonly findAuthors: (context: Context, subjects: readonly string[]) => Promise<readonly string[]>;
  /** How many members who are none of these people have a role that may approve. */
  readonly countApprovers: (context: Context, except: readonly string[]) => Promise<number>;
  /** What an approval needs in an environment. */
  readonly readPolicy: (context: Context, environmentId: string) => Promise<PromotionPolicy>;
}

export interface PromotionParts extends People {
  readonly kinds: ArtifactKinds;
  readonly gate: EvidenceGate;
  readonly events: EventRecorder;
  readonly tests: GuardrailTests;
  readonly scoreCanary: CanaryScorer;
  /** Counts a step that was committed. */
  readonly countStep: (call: string, state: string) => void;
}

/** The effects of a candidate's step. */
export interface Step {
  readonly call: CandidateCall | "create";
  readonly event: Parameters<EventRecorder["record"]>[1];
  readonly change: CandidateChange & { readonly state: CandidateState };
  /** One sentence for the timeline. */
  readonly summary: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The current state of a candidate, with fields computed on read. */
export interface InspectedCandidate extends Candidate {
  readonly approvalsNeeded: number;
  /** The approvals that count; those that counted then, if the candidate is closed. */
  readonly approvers: readonly Approver[];
  /** Why the approval is void. */
  readonly voidReasons: readonly string[];
}

/** Simulations that a node runs at the same time; each holds up to some tens of megabytes. */
const simulationsMax = 2;

/** The scope that a caller needs to create a candidate without traffic. */
export const waiverScope = "promotion:waive";

/** Reading and creating candidates, and recording what happens to them. */
export type CandidateService = ReturnType<typeof createCandidateService>;

export function createCandidateService(dependencies: PromotionParts) {
  const { kinds, gate, events, countStep } = dependencies;
  const simulations = createTenantConcurrencyLimiter(simulationsMax);

  function requireAccess(context: Context, candidate: Candidate | undefined): Candidate {
    if (candidate === undefined) throw notFound("candidate");
    requireEnvironmentAccess(context, candidate.environmentKey);
    return candidate;
  }

  async function find(context: Context, id: string): Promise<Candidate> {
    return requireAccess(context, await candidateStore(context.sql).find(context.tenantId, id));
  }

  /** Locks a candidate until the transaction ends. */
  async function lock(context: Context, id: string): Promise<Candidate> {
    return requireAccess(context, await candidateStore(context.sql).lock(context.tenantId, id));
  }

  /** Notes a step in the timeline, as an event and in the metrics. */
  async function note(context: Context, from: string, candidate: Candidate, step: Step): Promise<void> {
    const { sql, tenantId, principal, nowMs } = context;
    const { id, name, environmentId, state } = candidate;
    await candidateStore(sql).addHistory(tenantId, id, {
      ...{ id: ulid(nowMs), call: step.call, fromState: from, toState: state, actor: principal.subject },
      ...{ summary: step.summary, at: new Date(nowMs) },
    });
    await events.record(context, step.event, id, { name, state, ...step.data, environment_id: environmentId });
    context.afterCommit(() => countStep(step.call, state));
  }

  /** Resolves the versions that a new candidate names, with the live versions of their targets. */
  async function resolveArtifacts(
    context: Context,
    environmentId: string,
    { artifacts }: NewCandidate,
  ): Promise<{ artifacts: CandidateArtifact[]; authors: readonly string[] }> {
    const resolved: CandidateArtifact[] = [];
    const authors = new Set<string>();
    for (const [at, { kind, ref, version, sha256 }] of artifacts.entries()) {
      const owner = kinds.ownerOf(kind);
      const target = await owner.findTarget(context, environmentId, ref);
      if (target === undefined) {
        throw invalid(`artifacts[${at}].ref`, "target", "must name a target of the environment that is not archived");
      }
      const found = await owner.findVersion(context, target.id, version);
      if (found === undefined) throw invalid(`artifacts[${at}].version`, "version", "must be a version of the target");
      if (sha256 !== "" && sha256 !== found.sha256) {
        throw invalid(`artifacts[${at}].sha256`, "digest", `must be ${found.sha256}, the digest of the version`);
      }
      if (resolved.some((each) => each.targetKind === owner.targetKind && each.targetId === target.id)) {
        throw invalid(`artifacts[${at}].ref`, "unique", "must not name a target twice");
      }
      for (const author of found.authors) authors.add(author);
      resolved.push({
        ...{ kind, targetKind: owner.targetKind, targetId: target.id, targetName: target.name },
        ...{ version, sha256: found.sha256, baseVersion: target.live.version, baseSha256: target.live.sha256 },
      });
    }
    return { artifacts: resolved, authors: await dependencies.findAuthors(context, [...authors]) };
  }

  async function requireFreeTargets({ sql, tenantId }: Context, artifacts: readonly CandidateArtifact[]) {
    const store = candidateStore(sql);
    const open = await store.findOpen(tenantId, artifacts);
    if (open !== undefined) {
      throw fail("ALREADY_EXISTS", {
        public: `The candidate ${open.candidateId} is open for ${open.targetName}: promote or abort it first.`,
        extra: { candidate_id: open.candidateId },
      });
    }
    if ((await store.countOpen(tenantId)) >= openCandidatesMax) {
      throw fail("FAILED_PRECONDITION", {
        public: `A tenant can have at most ${openCandidatesMax} open candidates. Promote or abort one first.`,
      });
    }
  }

  return {
    find,
    lock,

    /** Stores the result of a step. */
    async apply(context: Context, candidate: Candidate, step: Step): Promise<Candidate> {
      const { sql, tenantId, nowMs } = context;
      const changed = await candidateStore(sql).update(tenantId, candidate.id, step.change, new Date(nowMs));
      await note(context, candidate.state, changed, step);
      return changed;
    },

    async createCandidate(context: Context, input: NewCandidate): Promise<Candidate> {
      const { sql, tenantId, principal, nowMs } = context;
      const environment = await requireEnvironment(context, input.environmentId);
      kinds.requireScopes(context, input.artifacts);
      if (input.waiverReason !== "" && !covers(principal.scopes, waiverScope)) {
        throw fail("PERMISSION_DENIED", { public: `The caller needs the scope ${waiverScope} to set waiver_reason.` });
      }
      const { artifacts, authors } = await resolveArtifacts(context, environment.id, input);
      await requireFreeTargets(context, artifacts);
      const candidate: Candidate = {
        ...{ tenantId, id: ulid(nowMs) as CandidateId, environmentId: environment.id, environmentKey: environment.key },
        ...{ name: input.name || defaultName(artifacts), description: input.description, state: "created" },
        ...{ packId: "", guardrails: input.guardrails, waiverReason: input.waiverReason },
        ...{ salt: randomBytes(16).toString("hex"), artifacts },
        ...{ preflight: null, guardrailReport: null, canary: null, approval: null, promotion: null },
        ...{ createdBy: principal.subject, creators: await dependencies.findIdentities(context), authors },
        ...newStamps(nowMs),
      };
      await candidateStore(sql).insert(candidate);
      if (input.packId !== "") await gate.attachPack(context, candidate, input.packId);
      const created = await find(context, candidate.id);
      const waived = input.waiverReason === "" ? "" : ` Traffic is waived: ${input.waiverReason}`;
      const summary = `Created for ${artifacts.map(labelOf).join(", ")}.${waived}`;
      const data = { waiver_reason: input.waiverReason };
      const step = { call: "create" as const, event: "promotion.created" as const, summary, data };
      await note(context, "", created, { ...step, change: { state: "created" } });
      return created;
    },

    /** A candidate with the current results of its canary, and whether its approval is valid. */
    async inspect(context: Context, candidate: Candidate): Promise<InspectedCandidate> {
      const { canary, approval, state } = candidate;
      const policy = await dependencies.readPolicy(context, candidate.environmentId);
      const approvalsNeeded = policy.approvals;
      let current = candidate;
      if (state === "canary_running" && canary !== null) {
        current = { ...candidate, canary: { ...canary, ...(await dependencies.scoreCanary(context, candidate)) } };
      }
      if (approval === null || !isOpen(state)) {
        return { ...current, approvalsNeeded, approvers: approval?.approvers ?? [], voidReasons: [] };
      }
      const reading = await gate.readGate(context.sql, context.tenantId, candidate);
      const observed = await kinds.observe(context, candidate);
      const approvers = validApprovers(candidate, reading, policy);
      return { ...current, approvalsNeeded, approvers, voidReasons: voidReasons(candidate, observed, reading, policy) };
    },

    /** Replays recorded work with the artifacts of a candidate. A tenant has one simulation at a time on each node. */
    async simulate(
      context: Context,
      candidate: Candidate,
      range: SimulationRange,
    ): Promise<readonly TargetSimulation[]> {
      return simulations.run("all", context.tenantId, () => kinds.simulate(context, candidate, range));
    },

    /** Sets the evidence pack of a candidate in the transaction of the caller. An approval becomes void. */
    async setPack(context: Context, id: string, packId: string): Promise<Candidate> {
      const { sql, tenantId, nowMs } = context;
      const candidate = await lock(context, id);
      return candidateStore(sql).update(tenantId, candidate.id, { packId }, new Date(nowMs));
    },
  };
}

function defaultName(artifacts: readonly CandidateArtifact[]): string {
  return artifacts
    .map(({ targetName }) => targetName)
    .join(", ")
    .slice(0, 200);
}

/** An artifact in one phrase. */
export function labelOf({ kind, targetName, version }: CandidateArtifact): string {
  return `${kind} ${targetName} version ${version}`;
}
