import type { Context } from "../../../chain/call.ts";
import { canaryStore } from "../../../platform/canary/index.ts";
import { lockFor, requireFound, type TenantChanges } from "../../../platform/db/index.ts";
import type {
  ArtifactFinding,
  PromotableArtifacts,
  SimulationQuery,
  SimulationReport,
} from "../../promotable-artifacts.ts";
import { diffDefinitions } from "./domain/language/diff.ts";
import type { DefinitionHead, DefinitionId } from "./domain/workflow-definition.ts";
import type { DefinitionService } from "./service.ts";
import { definitionStore } from "./store.ts";

export type ReadRunOutcomes = PromotableArtifacts["outcomes"];

/** Simulates recorded runs with a version. `live` is the active one. */
export type SimulateRuns = (
  context: Context,
  query: SimulationQuery & { readonly live: number },
) => Promise<SimulationReport>;

const stepsShownMax = 20;

/** Creates the artifacts of workflow definitions. The active version is the same in all environments. */
export function createDefinitionArtifacts(
  service: DefinitionService,
  readOutcomes: ReadRunOutcomes,
  simulateRuns: SimulateRuns,
  changes: TenantChanges,
): PromotableArtifacts {
  async function impactsOf(context: Context, head: DefinitionHead, version: number): Promise<ArtifactFinding[]> {
    const shared = {
      code: "all_environments",
      message: "The promotion activates the version in all environments. The canary is limited to the candidate's.",
    };
    if (head.activeVersion === 0) {
      return [{ code: "first_version", message: "The definition has no active version yet." }, shared];
    }
    const before = await service.getDocument(context, head.id, head.activeVersion);
    const after = await service.getDocument(context, head.id, version);
    const { fields, steps } = diffDefinitions(before, after);
    const named = steps.slice(0, stepsShownMax).map(({ id, change }) => `${id} (${change})`);
    return [
      ...(fields.length > 0
        ? [{ code: "fields_changed", message: `Fields change: ${fields.map(({ path }) => path).join(", ")}.` }]
        : []),
      ...(steps.length > 0 ? [{ code: "steps_changed", message: `Steps change: ${named.join(", ")}.` }] : []),
      shared,
    ];
  }

  return {
    kind: "workflow",
    targetKind: "workflow",
    scopes: ["workflow_definition:write"],

    async findTarget({ sql, tenantId }, _environmentId, ref) {
      const head = await definitionStore(sql).findHead(tenantId, ref);
      if (head === undefined || head.status === "archived") return undefined;
      return { id: head.id, name: head.key, live: liveOf(head) };
    },

    async findVersion({ sql, tenantId }, targetId, version) {
      const found = await definitionStore(sql).findVersionHead(tenantId, targetId as DefinitionId, version);
      return found && { version, sha256: found.digest, authors: found.authors };
    },

    async check(context, _environmentId, targetId, version) {
      const head = await service.getHead(context, targetId);
      const problems = await service.problemsOf(context, head.id, version);
      const blocking = problems.map((message) => ({ code: "invalid_content", message }));
      if (head.status === "archived") {
        blocking.push({ code: "target_archived", message: "The workflow definition is archived." });
      }
      return { impacts: await impactsOf(context, head, version), blocking };
    },

    async live(context, targetId) {
      return liveOf(await service.getHead(context, targetId));
    },

    async lock({ sql, tenantId }, targetId) {
      const store = definitionStore(sql);
      await lockFor(sql, "workflow_definitions", tenantId);
      const head = requireFound(await store.lockRow(tenantId, targetId as DefinitionId), "workflow definition");
      return liveOf(head);
    },

    async activate(context, targetId, version) {
      await service.activateVersion(context, targetId as DefinitionId, version);
    },

    async startCanary(context, canary) {
      await canaryStore(context.sql).start(context.tenantId, "workflow", canary);
      await changes.invalidate(context);
    },

    async stopCanary(context, targetId, candidateId) {
      await canaryStore(context.sql).stop(context.tenantId, "workflow", targetId, candidateId);
      await changes.invalidate(context);
    },

    outcomes: readOutcomes,

    async simulate(context, query) {
      const { activeVersion } = await service.getHead(context, query.targetId);
      // The first version has no runs.
      if (activeVersion === 0) return nothingSimulated;
      return simulateRuns(context, { ...query, live: activeVersion });
    },
  };
}

const nothingSimulated: SimulationReport = {
  ...{ items: 0, changed: 0, reproduced: 0, firstAt: undefined, lastAt: undefined, isCut: false },
  ...{ causes: [], outcomes: [], examples: [], steps: [] },
};

function liveOf({ activeVersion, activeDigest }: DefinitionHead) {
  return { version: activeVersion, sha256: activeDigest };
}
