import { create } from "@bufbuild/protobuf";
import {
  AccessSecretResponseSchema,
  CreateSecretResponseSchema,
  DeleteSecretResponseSchema,
  GetSecretResponseSchema,
  ListSecretsResponseSchema,
  type SecretService as Rpc,
  type Secret as SecretMessage,
  SecretSchema,
  UpdateSecretResponseSchema,
} from "../../../../gen/service/api/secret_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { expectedVersion, stampFields } from "../../../platform/records/index.ts";
import type { Secret } from "./domain/secret.ts";
import type { SecretService } from "./service.ts";
import { secretStore } from "./store.ts";

export function secretHandlers(service: SecretService, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async createSecret(context, { name, value, metadata }) {
      const secret = await service.createSecret(context, { name, value, metadata: metadata ?? {} });
      return create(CreateSecretResponseSchema, { secret: fromSecret(secret) });
    },

    async getSecret(context, request) {
      const secret = await service.getSecret(context, request.secretId);
      return create(GetSecretResponseSchema, { secret: fromSecret(secret) });
    },

    async updateSecret(context, { secretId, value, metadata, recordVersion }) {
      const change = { value, metadata };
      const secret = await service.updateSecret(context, secretId, change, expectedVersion(recordVersion));
      return create(UpdateSecretResponseSchema, { secret: fromSecret(secret) });
    },

    async deleteSecret(context, request) {
      const secret = await service.deleteSecret(context, request.secretId);
      return create(DeleteSecretResponseSchema, { secret: fromSecret(secret) });
    },

    async listSecrets(context, request) {
      const { tenantId, sql, operation } = context;
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id },
        (secret: Secret) => secret.id,
        (wanted) => secretStore(sql).list(tenantId, wanted),
      );
      return create(ListSecretsResponseSchema, { ...page, secrets: page.items.map(fromSecret) });
    },

    async accessSecret(context, request) {
      const { secret, value } = await service.accessSecret(context, request.secretId);
      return create(AccessSecretResponseSchema, { secret: fromSecret(secret), value });
    },
  };
}

function fromSecret(secret: Secret): SecretMessage {
  return create(SecretSchema, {
    id: secret.id,
    tenantId: secret.tenantId,
    name: secret.name,
    version: secret.version,
    metadata: secret.metadata as never,
    encryptionKeyId: secret.keyId,
    ...stampFields(secret),
  });
}
