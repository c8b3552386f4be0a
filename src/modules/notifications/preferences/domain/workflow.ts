import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { Channel } from "../../subscribers/index.ts";
import type { PreferenceSettings } from "./settings.ts";
import type { Step } from "./step.ts";

/** A template language. */
export type Engine = "handlebars" | "liquid";

/** A workflow's content for one channel; its texts are templates. */
export interface ChannelContent {
  readonly engine: Engine;
  readonly subject: string;
  readonly title: string;
  readonly body: string;
  readonly textBody: string;
  /** Whether a missing variable fails the rendering. */
  readonly strictVariables: boolean;
  /** Empty for the channel's default. */
  readonly layoutId: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The files of a mail. */
  readonly attachments: readonly MailAttachment[];
  /** The texts in other languages, by BCP 47 tag. */
  readonly locales: Readonly<Record<string, LocalizedContent>>;
}

/** The texts of a channel in one language. An empty text is that of a shorter tag, or of the content itself. */
export type LocalizedContent = Pick<ChannelContent, "subject" | "title" | "body" | "textBody">;

/** A file to attach. Its name, and its content in base64, are templates. */
export interface MailAttachment {
  readonly filename: string;
  /** Empty for unknown bytes. */
  readonly contentType: string;
  readonly content: string;
}

/** The replaceable fields of a workflow. */
export interface WorkflowContent {
  readonly name: string;
  readonly description: string;
  readonly channels: { readonly [C in Channel]?: ChannelContent };
  /** Layer 1. */
  readonly preferences: PreferenceSettings | undefined;
  /** Empty when all channels are sent at once. */
  readonly steps: readonly Step[];
}

/** The content and default preferences of one kind of notification. */
export interface NotificationWorkflow extends WorkflowContent, Stamps {
  readonly tenantId: TenantId;
  readonly workflowKey: string;
}

/** A workflow's preferences for one user: layer 2. */
export interface WorkflowUser extends Stamps {
  readonly tenantId: TenantId;
  readonly workflowKey: string;
  readonly userId: string;
  readonly preferences: PreferenceSettings;
}
