/**
 * Evidence: proof that a change was checked before it is promoted.
 *
 * Pack: artifacts and receipts for one environment. Artifact: something by its digest. Subject: an artifact that is promoted.
 * Receipt: the signed result of a check of some subjects. Requirement: a kind of artifact needs a valid receipt of a type.
 * Gate: open while every requirement of every subject is satisfied. Run: a worker that collects evidence, under a lease.
 * Candidate: a promotion. An attached pack is pinned, and its gate is about the subjects of the promotion.
 */
import type { RolloutEvidenceService as Rpc } from "../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { createEvidenceSweeper } from "./evidence-sweeper.ts";
import { gateHandlers } from "./gates/gate-handler.ts";
import { type Candidates, createGateService } from "./gates/gate-service.ts";
import { createEvidenceMetrics } from "./metrics.ts";
import { createManifestExporter } from "./packs/manifest.ts";
import { createPackChanges } from "./packs/pack-changes.ts";
import { packHandlers } from "./packs/pack-handler.ts";
import { createPackService } from "./packs/pack-service.ts";
import { receiptHandlers } from "./receipts/receipt-handler.ts";
import { createReceiptService, type FindRuntimeFinding } from "./receipts/receipt-service.ts";
import { runHandlers } from "./runs/run-handler.ts";
import { createRunService } from "./runs/run-service.ts";
import { keyHandlers } from "./signing/key-handler.ts";
import { createSigner } from "./signing/signer.ts";

export type { ProofCase } from "./domain/receipt.ts";
export type { Subject } from "./domain/subject.ts";
export type { Candidate } from "./gates/gate-service.ts";
export type { RuntimeFinding } from "./receipts/receipt-service.ts";
export { reencryptableSigningKeys } from "./signing/key-store.ts";

export interface EvidenceParts
  extends Pick<PlatformServices, "db" | "signals" | "log" | "clock" | "keyring" | "metrics" | "platformTenantId"> {
  readonly events: EventRecorder;
  readonly candidates: Candidates;
  readonly findRuntimeFinding: FindRuntimeFinding;
}

/** The module's public API. */
export type Evidence = ReturnType<typeof createEvidence>;

export function createEvidence(parts: EvidenceParts) {
  const metrics = createEvidenceMetrics(parts.metrics);
  const own = { ...parts, metrics };
  const signer = createSigner(own);
  const gates = createGateService(own);
  const changes = createPackChanges({ ...own, gates });
  const packs = createPackService({ ...own, changes });
  const runs = createRunService({ ...own, changes });
  const receipts = createReceiptService({ ...own, changes, runs, signer });
  const exportManifest = createManifestExporter({ ...own, changes, gates, signer });
  const handlers: Handlers<typeof Rpc> = {
    ...packHandlers(packs, changes, exportManifest),
    ...receiptHandlers(receipts, changes),
    ...runHandlers(runs, changes),
    ...gateHandlers(gates, changes),
    ...keyHandlers({ ...own, signer }),
  };
  return {
    handlers,
    sweeper: createEvidenceSweeper(own),
    /** The gate of a promotion. In a transaction, it keeps the pack as it is until the end. */
    readGate: gates.readGate,
    /** Attaches a pack to a promotion in the transaction that creates the promotion. */
    attachPack: packs.attachToNew,
    addObservation: receipts.addObservation,
    /** Whether a pack can have another receipt. */
    hasRoom: receipts.hasRoom,
  };
}
