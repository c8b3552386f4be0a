import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import { covers } from "../../../platform/access/index.ts";
import type {
  ArtifactKind,
  PromotableArtifacts,
  SimulationQuery,
  SimulationReport,
} from "../../promotable-artifacts.ts";
import type { ObservedArtifact } from "./domain/approval-validity.ts";
import type { Candidate, CandidateArtifact } from "./domain/candidate.ts";
import type { Evidence } from "./domain/candidate-scores.ts";

/** What one artifact of a candidate would have changed. */
export interface TargetSimulation extends SimulationReport {
  readonly artifact: CandidateArtifact;
}

/** The recorded work that a simulation replays. */
export type SimulationRange = Pick<SimulationQuery, "from" | "until" | "itemsMax">;

/** Outcomes that are read per target. */
const keysMax = 20_000;

/** The owners of artifacts, by kind. */
export type ArtifactKinds = ReturnType<typeof createArtifactKinds>;

/** Creates the access to the owners of artifacts. */
export function createArtifactKinds(owners: () => readonly PromotableArtifacts[]) {
  const ownerOf = (kind: ArtifactKind): PromotableArtifacts => owners().find((owner) => owner.kind === kind)!;

  return {
    ownerOf,

    /** Throws PERMISSION_DENIED if the caller may not change the targets itself. */
    requireScopes({ principal }: Context, artifacts: readonly Pick<CandidateArtifact, "kind">[]): void {
      const scopes = artifacts.flatMap(({ kind }) => ownerOf(kind).scopes);
      const missing = scopes.find((scope) => !covers(principal.scopes, scope));
      if (missing === undefined) return;
      throw fail("PERMISSION_DENIED", { public: `The caller needs the scope ${missing} to promote this artifact.` });
    },

    /** Reads the targets' live versions. */
    async observe(context: Context, { artifacts }: Candidate): Promise<ObservedArtifact[]> {
      const observed: ObservedArtifact[] = [];
      for (const artifact of artifacts) {
        observed.push({ artifact, live: await ownerOf(artifact.kind).live(context, artifact.targetId) });
      }
      return observed;
    },

    /**
     * Locks all targets until the transaction ends, in one order for all callers, before anything else is locked; returns what
     * they have.
     */
    async lockTargets(context: Context, { artifacts }: Candidate): Promise<ObservedArtifact[]> {
      const position = ({ targetKind, targetId }: CandidateArtifact) => `${targetKind} ${targetId}`;
      const inOrder = artifacts.toSorted((one, other) => (position(one) < position(other) ? -1 : 1));
      const locked = new Map<CandidateArtifact, ObservedArtifact>();
      for (const artifact of inOrder) {
        const live = await ownerOf(artifact.kind).lock(context, artifact.targetId);
        locked.set(artifact, { artifact, live });
      }
      return artifacts.map((artifact) => locked.get(artifact)!);
    },

    /** Replays recorded work with the artifacts of a candidate; leaves out those that decide nothing. */
    async simulate(
      context: Context,
      { artifacts, environmentId }: Candidate,
      range: SimulationRange,
    ): Promise<TargetSimulation[]> {
      const reports: TargetSimulation[] = [];
      for (const artifact of artifacts) {
        context.signal.throwIfAborted();
        const { kind, targetId, version } = artifact;
        const report = await ownerOf(kind).simulate?.(context, { environmentId, targetId, version, ...range });
        if (report !== undefined) reports.push({ ...report, artifact });
      }
      return reports;
    },

    /** The outcomes of the targets since a time; those of the candidate's canary, if it has one to score. */
    async readEvidence(
      { sql, tenantId }: Pick<Context, "sql" | "tenantId">,
      { id, environmentId, artifacts, salt }: Candidate,
      since: Date,
      sharePpm: number | undefined,
    ): Promise<Evidence[]> {
      const canary = sharePpm === undefined ? undefined : { candidateId: id, salt, sharePpm };
      return Promise.all(
        artifacts.map(async (artifact) => {
          const { targetId } = artifact;
          const owner = ownerOf(artifact.kind);
          const outcomes = await owner.outcomes(sql, tenantId, { environmentId, targetId, since, canary, keysMax });
          return { artifact, outcomes, gauges: (await owner.gauges?.(sql, tenantId, targetId)) ?? {} };
        }),
      );
    },
  };
}
