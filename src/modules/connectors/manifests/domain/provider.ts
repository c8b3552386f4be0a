import type { JsonObject } from "../../../../platform/document/index.ts";
import type { Action } from "./action.ts";
import type { AuthMode, AuthSpec, FieldSpec } from "./auth-spec.ts";
import type { HostList } from "./host-list.ts";
import type { MessageSpec } from "./message-spec.ts";
import type { ErrorRule, RateLimitHint } from "./response-spec.ts";
import type { TextTemplate, ValueTemplate } from "./template.ts";
import type { Trigger } from "./trigger.ts";

export const categories = [
  "crm",
  "communication",
  "developer_tools",
  "productivity",
  "payments",
  "accounting",
  "support",
  "marketing",
  "storage",
  "analytics",
  "incident",
  "ai",
  "commerce",
  "calendar",
  "email",
  "data",
  "generic",
] as const;
export type Category = (typeof categories)[number];

/** A compiled manifest. It never changes: another version is another provider value. */
export interface Provider {
  readonly key: string;
  readonly version: string;
  /** SHA-256, in hex, of the canonical manifest. */
  readonly digest: string;
  readonly name: string;
  readonly category: Category;
  readonly description: string;
  readonly docsUrl: string;
  readonly hosts: HostList;
  readonly baseUrl: TextTemplate;
  readonly httpVersion: "1.1" | "2";
  /** Values, not secret, that are asked for when an account is connected. */
  readonly settings: readonly FieldSpec[];
  /** In the order of the manifest; the first is the default. */
  readonly authModes: readonly AuthMode[];
  auth(mode: AuthMode): AuthSpec | undefined;
  /** Headers of every request. */
  readonly headers: ValueTemplate | undefined;
  readonly errors: readonly ErrorRule[];
  /** How successful answers announce that no calls are left. */
  readonly rateLimit: { readonly remaining: string; readonly until: RateLimitHint } | undefined;
  /** By the key within the provider, for example `issue.create`. */
  readonly actions: ReadonlyMap<string, Action>;
  readonly triggers: ReadonlyMap<string, Trigger>;
  /** How it sends notifications; undefined if it does not. */
  readonly messages: MessageSpec | undefined;
  /** The manifest as it was written. */
  readonly document: JsonObject;
}

/** The values of one connection that templates use. Credentials are in plain text: never log it. */
export interface AccountValues {
  readonly mode: AuthMode;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly captured: Readonly<Record<string, unknown>>;
  readonly account: { readonly id: string; readonly label: string };
  readonly credentials: Readonly<Record<string, string>>;
  /** The provider config: client_id, client_secret and others. */
  readonly config: Readonly<Record<string, string>>;
}
