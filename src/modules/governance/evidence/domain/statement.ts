import type { JsonObject } from "../../../../platform/document/index.ts";
import type { Gate } from "./gate.ts";
import type { Artifact, Pack } from "./pack.ts";
import type { Receipt } from "./receipt.ts";

/** The type of every signed payload. */
export const payloadType = "application/vnd.in-toto+json";

const statementType = "https://in-toto.io/Statement/v1";

/** The statement about a check. */
export type ReceiptFacts = Omit<Receipt, "digest" | "statement" | "keyId" | "signature" | "details"> & {
  /** The digest of the details; empty if there are none. */
  readonly detailsSha256: string;
};

/**
 * The statement of a receipt (in-toto, version 1). It contains identifiers, digests, results and times only, so that it can be
 * exported as it is.
 */
export function receiptStatement(facts: ReceiptFacts): JsonObject {
  const { id, tenantId, packId, type, result, producer, environmentId, candidateId, runId, cases, tool } = facts;
  return {
    _type: statementType,
    subject: facts.subjects.map(toSubject),
    predicateType: `urn:switchyard:evidence:receipt:${type}:v1`,
    predicate: {
      receipt_id: id,
      tenant_id: tenantId,
      pack_id: packId,
      environment_id: environmentId,
      candidate_id: candidateId,
      run_id: runId,
      result,
      producer,
      cases: cases.map((each) => ({ id: each.id, status: each.status })),
      tool: { name: tool.name, version: tool.version },
      bases: facts.subjects.map(({ baseSha256 }) => baseSha256),
      details_sha256: facts.detailsSha256,
      issued_at: facts.issuedAt.toISOString(),
      expires_at: facts.expiresAt.toISOString(),
    },
  };
}

/** A manifest's facts about a pack. */
export interface ManifestFacts extends Pick<Pack, "tenantId" | "environmentId" | "revision" | "digest"> {
  readonly packId: string;
  readonly artifacts: readonly Artifact[];
  readonly receiptDigests: readonly string[];
  readonly gate: Gate;
  readonly exportedAt: Date;
}

export function manifestStatement(facts: ManifestFacts): JsonObject {
  const { tenantId, packId, environmentId, revision, digest, artifacts, receiptDigests, gate, exportedAt } = facts;
  return {
    _type: statementType,
    subject: artifacts.map(toSubject),
    predicateType: "urn:switchyard:evidence:manifest:v1",
    predicate: {
      ...{ tenant_id: tenantId, pack_id: packId, environment_id: environmentId },
      ...{ pack_revision: revision, pack_sha256: digest, receipts_sha256: receiptDigests },
      ...{ gate_state: gate.state, gate_sha256: gate.digest },
      exported_at: exportedAt.toISOString(),
    },
  };
}

function toSubject({ kind, name, version, sha256 }: Pick<Artifact, "kind" | "name" | "version" | "sha256">) {
  return { name: `${kind}/${name}@${version}`, digest: { sha256 } };
}
