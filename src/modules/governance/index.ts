/**
 * Governance: what has to be shown before a change reaches production.
 *
 * evidence: signed proof that a change was checked, and the gate that depends on it.
 */
import type { Reencryptable } from "../../platform/crypto/index.ts";
import type { Sql } from "../../platform/db/index.ts";
import type { Area, AreaParts } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import { createEvidence, reencryptableSigningKeys } from "./evidence/index.ts";

interface Parts extends AreaParts {
  readonly events: EventRecorder;
}

/** The tables of the area that are encrypted with the master keys. */
export function sealedByGovernance(sql: Sql): readonly Reencryptable[] {
  return [reencryptableSigningKeys(sql)];
}

/** Creates the area. */
export function createGovernance(parts: Parts) {
  const evidence = createEvidence({ ...parts, findCandidate: async () => undefined });
  return {
    handlers: { "service.api.RolloutEvidenceService": evidence.handlers },
    jobs: evidence.jobs,
    workers: [],
  } satisfies Area & Record<string, unknown>;
}
