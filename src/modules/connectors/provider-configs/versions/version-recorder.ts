import type { Context } from "../../../../chain/call.ts";
import { digestOfContent, encodeConfigContent } from "../domain/config-content.ts";
import type { ProviderConfig } from "../domain/provider-config.ts";
import { type ActiveVersion, configVersionStore } from "./version-store.ts";

/** Records what a provider config has after a change as its active version. The caller holds the lock of the config. */
export async function recordConfigVersion(context: Context, config: ProviderConfig): Promise<ActiveVersion> {
  const { sql, tenantId, principal, nowMs } = context;
  const store = configVersionStore(sql);
  const content = encodeConfigContent(config);
  const digest = digestOfContent(content);
  const active = await store.findActive(tenantId, config.id);
  if (active?.digest === digest) return active;
  const known = await store.findByDigest(tenantId, config.id, digest);
  const stamp = { origin: "change" as const, message: "", createdBy: principal.subject, createdAt: new Date(nowMs) };
  const recorded = known ?? (await store.insert({ tenantId, configId: config.id, content, digest, ...stamp }));
  await store.setActive(tenantId, config.id, recorded);
  return { version: recorded.version, digest };
}
