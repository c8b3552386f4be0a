import { type ApiKeyService as Rpc, ApiKey_Status as Status } from "../../../../gen/service/api/api_key_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { EnvironmentMode } from "../../../platform/access/index.ts";
import { dateOf, enumNumbers, nameOf } from "../../../platform/records/index.ts";
import { type ApiKey, statusOf } from "./domain/api-key.ts";
import type { ApiKeyService } from "./service.ts";
import { apiKeyStore } from "./store.ts";
import type { ApiKeyVerifier } from "./verifier.ts";

export function apiKeyHandlers(service: ApiKeyService, verifier: ApiKeyVerifier): Handlers<typeof Rpc> {
  return {
    async listApiKeys(context, request) {
      const { tenantId, sql, nowMs } = context;
      const status = nameOf(statuses, request.status);
      const page = await context.page("apiKeys", request, [status ?? ""], (wanted) =>
        apiKeyStore(sql).list(tenantId, status, new Date(nowMs), wanted),
      );
      return { ...page, apiKeys: page.apiKeys.map((key) => fromApiKey(key, nowMs)) };
    },

    async createApiKey(context, { name, roles, scopes, environmentMode, expiresAt, maxRps }) {
      const { key, secret } = await service.createApiKey(context, {
        ...{ name, roles, scopes, expiresAt: expiresAt && dateOf(expiresAt), maxRps },
        environmentMode: (environmentMode || "any") as EnvironmentMode,
      });
      return { apiKey: { ...fromApiKey(key, context.nowMs), secret } };
    },

    async getApiKey(context, { apiKeyId }) {
      return { apiKey: fromApiKey(await service.getApiKey(context, apiKeyId), context.nowMs) };
    },

    async revokeApiKey(context, { apiKeyId }) {
      return { apiKey: fromApiKey(await service.revokeApiKey(context, apiKeyId), context.nowMs) };
    },

    async verifyApiKey(context, { secret }) {
      const verified = await verifier.verify(secret, "", () => context.signal);
      // Only the platform tenant can verify another tenant's keys.
      if (verified === undefined || (verified.key.tenantId !== context.tenantId && !context.platform)) {
        return { valid: false, grantedScopes: [] };
      }
      const { key, principal } = verified;
      return { valid: true, apiKey: fromApiKey(key, context.nowMs), grantedScopes: [...principal.scopes].sort() };
    },
  };
}

const statuses = enumNumbers(Status);

const fromApiKey = (key: ApiKey, nowMs: number) => ({ ...key, status: statuses[statusOf(key, nowMs)] });
