import { createPoolService } from "@client/gen/pool";
import { createPoolVersionService } from "@client/gen/pool-version";
import type { NewCandidateArtifact } from "@client/gen/promotion";
import { createProviderConfigService } from "@client/gen/provider-config";
import { createWorkflowDefinitionService } from "@client/gen/workflow-definition";
import { can } from "../../core/session";
import { transport } from "../../core/transport";

/** Kind of a version's target. */
export type ArtifactKind = NewCandidateArtifact["kind"];

interface Target {
  readonly id: string;
  readonly name: string;
}

interface TargetVersion {
  readonly version: number;
  readonly isActive: boolean;
  readonly message: string;
}

const readMax = 200;
const pools = createPoolService(transport);
const poolVersions = createPoolVersionService(transport);
const workflows = createWorkflowDefinitionService(transport);
const configs = createProviderConfigService(transport);

/** The kinds whose targets the caller may see. */
export function readableKinds(): readonly ArtifactKind[] {
  const kinds: ArtifactKind[] = [];
  if (can("pool:read")) kinds.push("routing", "strategy");
  if (can("workflow_definition:read")) kinds.push("workflow");
  if (can("provider_config:read")) kinds.push("connector");
  return kinds;
}

export async function readTargets(kind: ArtifactKind): Promise<readonly Target[]> {
  const page = { limit: readMax };
  switch (kind) {
    case "routing":
    case "strategy":
      return (await pools.list(page).page()).items;
    case "workflow":
      return (await workflows.list(page).page()).items.map(({ id, name, key }) => ({ id, name: name || key }));
    case "connector":
      return (await configs.list(page).page()).items;
  }
}

/** The versions of a target, newest first. */
export async function readVersions(kind: ArtifactKind, id: string): Promise<readonly TargetVersion[]> {
  const versions = await listVersions(kind, id);
  return versions.toSorted((a, b) => b.version - a.version);
}

async function listVersions(kind: ArtifactKind, id: string): Promise<readonly TargetVersion[]> {
  const page = { limit: readMax };
  switch (kind) {
    case "routing":
    case "strategy":
      return (await poolVersions.list({ ...page, pool_id: id }).page()).items.map(withState);
    case "workflow":
      return (await workflows.listVersions({ ...page, id }).page()).items.map(({ version, status, message }) => ({
        version,
        message,
        isActive: status === "STATUS_ACTIVE",
      }));
    case "connector":
      return (await configs.listVersions({ ...page, id }).page()).items.map(withState);
  }
}

function withState({ version, active, message }: { version: number; active: boolean; message: string }): TargetVersion {
  return { version, message, isActive: active };
}
