import { create, type JsonObject } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type EvidenceEnvelope,
  type EvidenceKey,
  EvidenceKeySchema,
  ListEvidenceKeysResponseSchema,
  RotateEvidenceKeyResponseSchema,
  type RolloutEvidenceService as Rpc,
  VerifyEvidenceReceiptResponseSchema,
} from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { fail } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { optionalTime } from "../../../../platform/records/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { openEnvelope } from "./envelope.ts";
import { keyStore, type SigningKey } from "./key-store.ts";
import type { Signer } from "./signer.ts";

interface Dependencies {
  readonly events: EventRecorder;
  readonly signer: Signer;
  readonly platformTenantId: () => TenantId;
}

type KeyMethods = "listEvidenceKeys" | "rotateEvidenceKey" | "verifyEvidenceReceipt";

/** Keys are rotated rarely; older ones are still found by their id. */
const listedMax = 100;

export function keyHandlers({
  events,
  signer,
  platformTenantId,
}: Dependencies): Pick<Handlers<typeof Rpc>, KeyMethods> {
  return {
    async listEvidenceKeys({ sql }) {
      const keys = await keyStore(sql).list(platformTenantId(), listedMax);
      return create(ListEvidenceKeysResponseSchema, { keySet: { keys: keys.map(fromKey) } });
    },

    async rotateEvidenceKey(context, { reason }) {
      if (!context.platform && context.plane !== "internal") {
        throw fail("PERMISSION_DENIED", { public: "Only an operator may rotate the signing key of evidence." });
      }
      const { key, retiredKeyId } = await signer.rotate(context.sql, context.nowMs);
      const data = { retired_key_id: retiredKeyId, reason };
      await events.record(context, "evidence.key.rotated", key.id, data, platformTenantId());
      return create(RotateEvidenceKeyResponseSchema, { key: fromKey(key) });
    },

    async verifyEvidenceReceipt({ sql }, { envelope }) {
      const { signatures } = envelope as EvidenceEnvelope;
      const keyIds = signatures.map(({ keyid }) => keyid);
      const opened = openEnvelope(envelope!, await keyStore(sql).find(platformTenantId(), keyIds));
      const verification =
        opened === undefined
          ? { valid: false }
          : {
              valid: true,
              keyId: opened.key.id,
              keyStatus: statusOf(opened.key),
              statement: opened.statement as JsonObject,
            };
      return create(VerifyEvidenceReceiptResponseSchema, { verification });
    },
  };
}

/** Converts a public key. */
export function fromKey(key: SigningKey): EvidenceKey {
  const { id, publicKey, createdAt, retiredAt } = key;
  return create(EvidenceKeySchema, {
    ...{ id, publicKey, status: statusOf(key) },
    createdAt: timestampFromDate(createdAt),
    retiredAt: optionalTime(retiredAt),
  });
}

function statusOf({ retiredAt }: SigningKey): "active" | "retired" {
  return retiredAt === null ? "active" : "retired";
}
