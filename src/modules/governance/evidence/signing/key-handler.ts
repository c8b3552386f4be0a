import type {
  EvidenceEnvelope,
  RolloutEvidenceService as Rpc,
} from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { fail } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { openEnvelope } from "./envelope.ts";
import { keyStore, type SigningKey } from "./key-store.ts";
import type { Signer } from "./signer.ts";

interface Dependencies {
  readonly events: EventRecorder;
  readonly signer: Signer;
  readonly platformTenantId: () => TenantId;
}

/** Keys are rotated rarely; older ones are still found by their id. */
const listedMax = 100;

export function keyHandlers({ events, signer, platformTenantId }: Dependencies) {
  return {
    async listEvidenceKeys({ sql }) {
      const keys = await keyStore(sql).list(platformTenantId(), listedMax);
      return { keySet: { keys: keys.map(fromKey) } };
    },

    async rotateEvidenceKey(context, { reason }) {
      if (!context.platform && context.plane !== "internal") {
        throw fail("PERMISSION_DENIED", { public: "Only an operator may rotate the signing key of evidence." });
      }
      const { key, retiredKeyId } = await signer.rotate(context.sql, context.nowMs);
      const data = { retired_key_id: retiredKeyId, reason };
      await events.record(context, "evidence.key.rotated", key.id, data, platformTenantId());
      return { key: fromKey(key) };
    },

    async verifyEvidenceReceipt({ sql }, { envelope }) {
      const { signatures } = envelope as EvidenceEnvelope;
      const keyIds = signatures.map(({ keyid }) => keyid);
      const opened = openEnvelope(envelope!, await keyStore(sql).find(platformTenantId(), keyIds));
      if (opened === undefined) return { verification: { valid: false, keyId: "", keyStatus: "" } };
      const { key, statement } = opened;
      return { verification: { valid: true, keyId: key.id, keyStatus: statusOf(key), statement } };
    },
  } satisfies Partial<Handlers<typeof Rpc>>;
}

/** Converts a public key. */
export const fromKey = (key: SigningKey) => ({ ...key, status: statusOf(key) });

function statusOf({ retiredAt }: SigningKey): "active" | "retired" {
  return retiredAt === null ? "active" : "retired";
}
