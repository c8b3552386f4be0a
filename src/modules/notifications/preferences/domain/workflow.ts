import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { Channel } from "../../subscribers/index.ts";
import type { PreferenceSettings } from "./settings.ts";

/** What templates are written in. */
export type Engine = "handlebars" | "liquid";

/** What is said on one channel; texts are templates. */
export interface ChannelContent {
  readonly engine: Engine;
  readonly subject: string;
  readonly title: string;
  readonly body: string;
  readonly textBody: string;
  /** Whether a variable that is missing is a failure. */
  readonly strictVariables: boolean;
  /** Empty for the channel's default. */
  readonly layoutId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What its author says about a workflow. */
export interface WorkflowContent {
  readonly name: string;
  readonly description: string;
  readonly channels: { readonly [C in Channel]?: ChannelContent };
  /** Layer 1. */
  readonly preferences: PreferenceSettings | undefined;
}

/** What notifications of one kind say, and whom they reach by default. */
export interface NotificationWorkflow extends WorkflowContent, Stamps {
  readonly tenantId: TenantId;
  readonly workflowKey: string;
}

/** What the author of a workflow wants for one user: layer 2. */
export interface WorkflowUser extends Stamps {
  readonly tenantId: TenantId;
  readonly workflowKey: string;
  readonly userId: string;
  readonly preferences: PreferenceSettings;
}
