import type { SecretService as Rpc } from "../../../../gen/service/api/secret_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { expectedVersion } from "../../../platform/records/index.ts";
import type { Secret } from "./domain/secret.ts";
import type { SecretService } from "./service.ts";
import { secretStore } from "./store.ts";

export function secretHandlers(service: SecretService): Handlers<typeof Rpc> {
  return {
    async createSecret(context, { name, value, metadata = {} }) {
      return { secret: fromSecret(await service.createSecret(context, { name, value, metadata })) };
    },

    getSecret: async (context, { secretId }) => ({ secret: fromSecret(await service.getSecret(context, secretId)) }),

    async updateSecret(context, { secretId, value, metadata, recordVersion }) {
      const version = expectedVersion(recordVersion);
      return { secret: fromSecret(await service.updateSecret(context, secretId, { value, metadata }, version)) };
    },

    async deleteSecret(context, { secretId }) {
      return { secret: fromSecret(await service.deleteSecret(context, secretId)) };
    },

    async listSecrets(context, request) {
      const page = await context.page("secrets", request, [], (wanted) =>
        secretStore(context.sql).list(context.tenantId, wanted),
      );
      return { ...page, secrets: page.secrets.map(fromSecret) };
    },

    async accessSecret(context, { secretId }) {
      const { secret, value } = await service.accessSecret(context, secretId);
      return { secret: fromSecret(secret), value };
    },
  };
}

const fromSecret = (secret: Secret) => ({ ...secret, encryptionKeyId: secret.keyId });
