import type { JsonObject } from "../../../../platform/document/index.ts";
import type { HostList } from "./host-list.ts";
import type { Action } from "./language/action.ts";
import type { AuthMode, AuthSpec } from "./language/auth/modes.ts";
import type { FieldSpec } from "./language/fields.ts";
import type { ManifestValues } from "./language/manifest.ts";
import type { MessageSpec } from "./language/messages/messages.ts";
import type { Trigger } from "./language/trigger.ts";
import type { ErrorRule } from "./response-spec.ts";

export type { Category } from "./language/manifest.ts";

/** A compiled manifest. It never changes: another version is another provider value. */
export interface Provider extends ManifestValues {
  /** SHA-256, in hex, of the canonical manifest. */
  readonly digest: string;
  readonly hosts: HostList;
  /** Values, not secret, that are asked for when an account is connected. */
  readonly settings: readonly FieldSpec[];
  /** In the order of the manifest; the first is the default. */
  readonly authModes: readonly AuthMode[];
  auth(mode: AuthMode): AuthSpec | undefined;
  readonly errors: readonly ErrorRule[];
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
