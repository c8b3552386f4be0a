import type { Json, JsonObject, Violations } from "../../../../../platform/document/index.ts";
import type { HostList } from "../host-list.ts";
import type { PlaceholderRoot } from "../template.ts";

/** State shared by all parts of one manifest. */
export interface CompileContext {
  readonly violations: Violations;
  readonly key: string;
  readonly hosts: HostList;
  readonly settings: ReadonlySet<string>;
  readonly captured: ReadonlySet<string>;
  /** The scopes that OAuth offers; empty if the manifest lists none. */
  readonly scopes: ReadonlySet<string>;
  readonly actionNames: ReadonlySet<string>;
  /** Resolves the references of schemas; undefined and reported if one is invalid. */
  readonly schemas: { resolve(value: Json, path: string): JsonObject | undefined };
  /** The placeholders that are allowed in the part that is read. */
  readonly scope: TemplateScope;
}

/** The placeholders that are allowed in one place. Undefined: the root is not allowed there. */
export type TemplateScope = { readonly [R in Exclude<PlaceholderRoot, "input">]?: ReadonlySet<string> | undefined } & {
  /** The schema of the input. */
  readonly input?: JsonObject | undefined;
};

const accountNames: ReadonlySet<string> = new Set(["id", "label"]);
const times: ReadonlySet<string> = new Set(["iso", "epoch_s", "epoch_ms", "date"]);
const messageNames: ReadonlySet<string> = new Set([
  "delivery_id",
  "attachments",
  "channel",
  "to",
  "to_data",
  "subject",
  "title",
  "text",
  "html",
  "headers",
  "data",
]);
const subscriptionNames: ReadonlySet<string> = new Set(["callback_url", "secret", "id", "expires_at"]);

/** The scope of requests of actions. */
export function actionScope({ settings, captured }: CompileContext, input: JsonObject): TemplateScope {
  return { input, settings, captured, account: accountNames, idempotency_key: new Set(), now: times };
}

/** The scope of requests of triggers. */
export function triggerScope({ settings, captured }: CompileContext, input: JsonObject): TemplateScope {
  return { input, settings, captured, account: accountNames, subscription: subscriptionNames, now: times };
}

/** The scope of the input that a notification becomes. */
export function messageScope({ settings, captured }: CompileContext): TemplateScope {
  return { message: messageNames, settings, captured, account: accountNames, now: times };
}

/** The scope of everything that is the same for all requests. */
export function providerScope({ settings, captured }: Pick<CompileContext, "settings" | "captured">): TemplateScope {
  return { settings, captured, account: accountNames };
}
