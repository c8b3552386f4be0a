import { createHash } from "node:crypto";
import { canonicalJson } from "../../../../platform/crypto/index.ts";
import type { ProviderConfig } from "./provider-config.ts";

/** The content of a provider config version: everything that its provider sees, without secrets. */
export type ConfigContent = Pick<ProviderConfig, "clientId" | "scopes" | "settings" | "manifestVersion">;

interface EncodedContent extends Pick<ConfigContent, "scopes" | "settings"> {
  readonly client_id: string;
  readonly manifest_version?: string;
}

/** A content as canonical JSON. Equal contents have equal texts. */
export function encodeConfigContent({ clientId, scopes, settings, manifestVersion }: ConfigContent): string {
  const pin = manifestVersion === "" ? {} : { manifest_version: manifestVersion };
  return canonicalJson({ client_id: clientId, scopes, settings, ...pin });
}

export function decodeConfigContent(text: string): ConfigContent {
  const { client_id, manifest_version = "", scopes, settings } = JSON.parse(text) as EncodedContent;
  return { clientId: client_id, scopes, settings, manifestVersion: manifest_version };
}

/** The SHA-256 of a text, as 64 hex digits. */
export function digestOfContent(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
