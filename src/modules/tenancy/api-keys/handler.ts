import { create } from "@bufbuild/protobuf";
import {
  type ApiKey as ApiKeyMessage,
  ApiKeySchema,
  CreateApiKeyResponseSchema,
  GetApiKeyResponseSchema,
  ListApiKeysResponseSchema,
  RevokeApiKeyResponseSchema,
  type ApiKeyService as Rpc,
  ApiKey_Status as Status,
  VerifyApiKeyResponseSchema,
} from "../../../../gen/service/api/api_key_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import type { EnvironmentMode } from "../../../platform/access/index.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import { readPage } from "../../../platform/paging/index.ts";
import { dateOf, nameOf, optionalTime, stampFields } from "../../../platform/records/index.ts";
import { type ApiKey, statusOf } from "./domain/api-key.ts";
import type { ApiKeyService } from "./service.ts";
import { apiKeyStore } from "./store.ts";
import type { ApiKeyVerifier } from "./verifier.ts";

export function apiKeyHandlers(
  service: ApiKeyService,
  verifier: ApiKeyVerifier,
  cursors: Cursors,
): Handlers<typeof Rpc> {
  return {
    async listApiKeys(context, request) {
      const { tenantId, sql, nowMs } = context;
      const status = nameOf(statuses, request.status);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: context.operation.id, filter: [status ?? ""] },
        (key: ApiKey) => key.id,
        (wanted) => apiKeyStore(sql).list(tenantId, status, new Date(nowMs), wanted),
      );
      return create(ListApiKeysResponseSchema, { ...page, apiKeys: page.items.map((key) => fromApiKey(key, nowMs)) });
    },

    async createApiKey(context, request) {
      const { key, secret } = await service.createApiKey(context, {
        name: request.name,
        roles: request.roles,
        scopes: request.scopes,
        environmentMode: (request.environmentMode || "any") as EnvironmentMode,
        expiresAt: request.expiresAt && dateOf(request.expiresAt),
      });
      return create(CreateApiKeyResponseSchema, { apiKey: fromApiKey(key, context.nowMs, secret) });
    },

    async getApiKey(context, request) {
      const key = await service.getApiKey(context, request.apiKeyId);
      return create(GetApiKeyResponseSchema, { apiKey: fromApiKey(key, context.nowMs) });
    },

    async revokeApiKey(context, request) {
      const key = await service.revokeApiKey(context, request.apiKeyId);
      return create(RevokeApiKeyResponseSchema, { apiKey: fromApiKey(key, context.nowMs) });
    },

    async verifyApiKey(context, request) {
      const verified = await verifier.verify(request.secret, "", () => context.signal);
      // Only the platform tenant can verify another tenant's keys.
      if (verified === undefined || (verified.key.tenantId !== context.tenantId && !context.platform)) {
        return create(VerifyApiKeyResponseSchema, { valid: false });
      }
      return create(VerifyApiKeyResponseSchema, {
        valid: true,
        apiKey: fromApiKey(verified.key, context.nowMs),
        grantedScopes: [...verified.principal.scopes].sort(),
      });
    },
  };
}

const statuses = { active: Status.ACTIVE, revoked: Status.REVOKED, expired: Status.EXPIRED } as const;

function fromApiKey(key: ApiKey, nowMs: number, secret?: string): ApiKeyMessage {
  return create(ApiKeySchema, {
    id: key.id,
    tenantId: key.tenantId,
    name: key.name,
    prefix: key.prefix,
    roles: [...key.roles],
    scopes: [...key.scopes],
    environmentMode: key.environmentMode,
    status: statuses[statusOf(key, nowMs)],
    expiresAt: optionalTime(key.expiresAt),
    lastUsedAt: optionalTime(key.lastUsedAt),
    createdBy: key.createdBy,
    revokedAt: optionalTime(key.revokedAt),
    revokedBy: key.revokedBy,
    ...stampFields(key),
    secret,
  });
}
