import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import type { Action } from "./domain/action.ts";
import type { Provider } from "./domain/provider.ts";
import type { Trigger } from "./domain/trigger.ts";

/** Where a manifest comes from. Built-in ones exist for all tenants. */
export type ManifestSource = "builtin" | "tenant" | "pack";

/** A pack that brings manifests. */
export interface PackSource {
  readonly packId: string;
}

/** The providers of a tenant: built-in ones, its own manifests and those of installed packs. Reads come from memory. */
export interface Catalogue {
  /** The newest version unless one is given. A tenant's own manifest hides a built-in one with the same key. */
  provider(tenantId: TenantId, key: string, version?: string): Promise<Provider | undefined>;
  /** The provider with exactly this manifest, also if a newer version exists. */
  providerByDigest(tenantId: TenantId, key: string, digest: string): Promise<Provider | undefined>;
  action(
    tenantId: TenantId,
    actionKey: string,
  ): Promise<{ readonly provider: Provider; readonly action: Action } | undefined>;
  trigger(
    tenantId: TenantId,
    triggerKey: string,
  ): Promise<{ readonly provider: Provider; readonly trigger: Trigger } | undefined>;
  /** Adds the manifests of a pack in the caller's transaction. Throws INVALID_ARGUMENT for a manifest that does not compile. */
  addManifests(sql: Sql, tenantId: TenantId, source: PackSource, manifests: readonly JsonObject[]): Promise<void>;
  /** Removes the manifests of a pack in the caller's transaction. The caller records the tenant's change. */
  removeManifests(sql: Sql, tenantId: TenantId, source: PackSource): Promise<void>;
}
