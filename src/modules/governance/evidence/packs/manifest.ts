import type { Context } from "../../../../chain/call.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Receipt } from "../domain/receipt.ts";
import { manifestStatement, payloadType } from "../domain/statement.ts";
import { fromGate } from "../gates/gate-message.ts";
import type { GateService } from "../gates/gate-service.ts";
import { receiptStore } from "../receipts/receipt-store.ts";
import { envelopeOf } from "../signing/envelope.ts";
import { fromKey } from "../signing/key-handler.ts";
import { keyStore } from "../signing/key-store.ts";
import type { Signer } from "../signing/signer.ts";
import type { PackChanges } from "./pack-changes.ts";
import { packStore } from "./pack-store.ts";

interface Dependencies {
  readonly changes: PackChanges;
  readonly gates: GateService;
  readonly signer: Signer;
  readonly platformTenantId: () => TenantId;
}

export type ExportManifest = ReturnType<typeof createManifestExporter>;

/**
 * Creates the exporter. A manifest is built field by field from identifiers, digests, results and times. Names and descriptions
 * of packs, storage references, details of receipts and callers are never copied.
 */
export function createManifestExporter({ changes, gates, signer, platformTenantId }: Dependencies) {
  return async (context: Context, environment: string, packId: string) => {
    const { sql, tenantId, nowMs } = context;
    const { pack, now } = await changes.lock(context, environment, packId, "export");
    const artifacts = await packStore(sql).readArtifacts(tenantId, packId);
    const receipts = await receiptStore(sql).readAll(tenantId, packId, pack.revision);
    const gate = await gates.evaluatePack(sql, { pack, artifacts, receipts }, now.getTime());
    const { environmentId, revision, digest, status, requirementsVersion } = pack;
    const receiptDigests = receipts.map((each) => each.digest);
    const statement = manifestStatement({
      ...{ tenantId, packId, environmentId, revision, digest, artifacts, receiptDigests, gate, exportedAt: now },
    });
    const signed = await signer.sign(sql, statement, nowMs);
    const keyIds = [...new Set([signed.keyId, ...receipts.map(({ keyId }) => keyId)])];
    const keys = await keyStore(sql).find(platformTenantId(), keyIds);
    const data = { revision, digest, manifest_digest: signed.digest };
    await changes.record(context, "evidence.pack.exported", pack, data);
    return {
      ...{ packId, environmentId, status, revision, digest, requirementsVersion },
      artifacts: artifacts.map(({ kind, name, version, sha256, sizeBytes }) => ({
        ...{ kind, name, version, sha256, sizeBytes },
      })),
      receipts: receipts.map(fromReceipt),
      gate: fromGate(gate, pack),
      keys: keys.map(fromKey),
      exportedAt: now,
      envelope: envelopeOf(payloadType, signed),
    };
  };
}

function fromReceipt(receipt: Receipt) {
  const { id, type, result, issuedAt, expiresAt, digest } = receipt;
  return { ...{ id, type, result, issuedAt, expiresAt, digest }, envelope: envelopeOf(payloadType, receipt) };
}
