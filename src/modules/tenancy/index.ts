/**
 * Tenancy: tenants, their members and credentials, and their settings.
 *
 * Tenant: the unit of isolation; every record belongs to one. Environment: a part of a tenant, such as production.
 * Member: a person with roles in a tenant. API key: a credential of a program. Secret: a value that callers can set and
 * use but never read. Dynamic configuration: settings that a tenant changes for itself.
 */
import type { TenantId } from "../../platform/access/index.ts";
import type { Reencryptable } from "../../platform/crypto/index.ts";
import type { Area, PlatformServices } from "../area.ts";
import type { EventRecorder } from "../operations/index.ts";
import { createApiKeys } from "./api-keys/index.ts";
import { createDynamicConfig } from "./dynamic-config/index.ts";
import { createEnvironments } from "./environments/index.ts";
import { countOtherMembers, findIdentities } from "./identities.ts";
import { createMembers, type MemberCredentials } from "./members/index.ts";
import { tenancyNames } from "./name-sources.ts";
import { createSecrets } from "./secrets/index.ts";
import { createTenants } from "./tenants/index.ts";

export { type ApiKeys, type ApiKeyVerifier, createApiKeys, createKeyText } from "./api-keys/index.ts";
export type { PromotionPolicy } from "./environments/index.ts";
export type { Member, MemberAccounts, Members } from "./members/index.ts";
export { createSecrets } from "./secrets/index.ts";
export type { QuotaRequest, Quotas, ScratchTenants, Tenant } from "./tenants/index.ts";
export {
  type ExportReport,
  exportTenant,
  type ImportReport,
  importTenant,
  type Suspension,
  suspendForMove,
  type TransferParts,
} from "./transfer/index.ts";

interface Dependencies extends PlatformServices {
  readonly events: EventRecorder;
  /** The scopes that a key can be granted. */
  readonly scopes: ReadonlySet<string>;
  /** The daily quotas that come with a tenant's entitlements, by operation. */
  readonly readLimits: (tenantId: TenantId) => Promise<Readonly<Record<string, number>>>;
  /** Ends the browser sessions of a member and of API keys. */
  readonly endSessions: MemberCredentials["endSessions"];
  /** Tables of other areas that are encrypted with the same master keys. */
  readonly sealed: readonly Reencryptable[];
  /** Has the data of a tenant removed that is not in the database; returns whether any is left. */
  readonly releaseTenant: (tenantId: TenantId) => Promise<boolean>;
}

/** The area's public API. */
export type Tenancy = ReturnType<typeof createTenancy>;

export function createTenancy({ config, scopes, sealed, ...parts }: Dependencies) {
  const tenantSettingsEnabled = config["dynamic_config.enabled"];
  const environments = createEnvironments(parts);
  const apiKeys = createApiKeys({
    ...{ ...parts, bcryptCost: config["auth.bcrypt_cost"], scopes },
    findOwner: (...owner) => members.accounts.findOwner(...owner),
  });
  const purgeAfterDays = config["tenant.purge_after_days"];
  const tenants = createTenants({ ...parts, apiKeys, environments, purgeAfterDays, tenantSettingsEnabled });
  const members = createMembers({
    ...parts,
    credentials: { revokeKeys: apiKeys.revokeOwnedBy, listKeys: apiKeys.listOwnedBy, endSessions: parts.endSessions },
  });
  const secrets = createSecrets({ ...parts, otherTables: sealed });
  const dynamicConfig = createDynamicConfig({
    ...parts,
    instance: {
      "events.retention_days": config["events.retention_days"],
      "notification.allow_unknown_workflows": config["notification.allow_unknown_workflows"],
    },
    enabled: tenantSettingsEnabled,
  });
  return {
    handlers: {
      "service.api.TenantService": tenants.handlers,
      "service.api.EnvironmentService": environments.handlers,
      "service.api.MemberService": members.handlers,
      "service.api.ApiKeyService": apiKeys.handlers,
      "service.api.SecretService": secrets.handlers,
      "service.api.ConfigService": dynamicConfig.handlers,
    },
    jobs: [...tenants.jobs, ...secrets.jobs],
    workers: [],
    names: tenancyNames,
    tenants,
    members,
    apiKeys,
    secrets,
    /** Finds an environment that is not deleted by its id or its key. */
    findEnvironment: environments.find,
    /** Lists the environments that a caller may use, by id. */
    listEnvironments: environments.list,
    /** What the approval of a promotion needs in an environment. */
    readPromotionPolicy: environments.readPromotionPolicy,
    findIdentities,
    countOtherMembers,
  } satisfies Area & Record<string, unknown>;
}
