import { createHash } from "node:crypto";
import { canonicalJson } from "../../../../platform/crypto/index.ts";
import type { ProviderConfig } from "./provider-config.ts";

/** What a version of a provider config consists of: everything that its provider sees, without secrets. */
export type ConfigContent = Pick<ProviderConfig, "clientId" | "scopes" | "settings">;

/** A content as canonical JSON. Equal contents have equal texts. */
export function encodeConfigContent({ clientId, scopes, settings }: ConfigContent): string {
  return canonicalJson({ client_id: clientId, scopes, settings });
}

/** The content of a text. */
export function decodeConfigContent(text: string): ConfigContent {
  const { client_id: clientId, ...rest } = JSON.parse(text) as Omit<ConfigContent, "clientId"> & { client_id: string };
  return { clientId, ...rest };
}

/** The SHA-256 of a text, as 64 hex digits. */
export function digestOfContent(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
