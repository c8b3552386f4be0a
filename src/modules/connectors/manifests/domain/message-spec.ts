import type { CelExpression } from "../../../../platform/cel/index.ts";
import type { AnswerClass, OutputSpec } from "./response-spec.ts";
import type { TextTemplate, ValueTemplate } from "./template.ts";
import type { ChallengeSpec, VerifySpec } from "./trigger.ts";

/** The channels that providers can serve. Messages in the app never leave the service. */
export const messageChannels = ["email", "sms", "push", "chat"] as const;
export type MessageChannel = (typeof messageChannels)[number];

/** The outcome of a message that a provider refused. */
export const messageFailures = [
  "recipient_rejected",
  "content_rejected",
  "auth_rejected",
  "quota_exhausted",
  "rate_limited",
  "unavailable",
] as const;
export type MessageFailure = (typeof messageFailures)[number];

/** Events that a provider reports about a message after accepting it. */
export const messageEventKinds = [
  "delivered",
  "deferred",
  "bounced",
  "blocked",
  "dropped",
  "rejected",
  "complained",
  "unsubscribed",
  "opened",
  "clicked",
  "seen",
  "read",
  "token_invalidated",
] as const;
export type MessageEventKind = (typeof messageEventKinds)[number];

/** How a message becomes the input of an action. */
export interface SendSpec {
  /** A condition about the message; undefined: every message. */
  readonly when: CelExpression | undefined;
  /** The name of the action. */
  readonly action: string;
  readonly input: ValueTemplate;
  /** A pointer into the output of the action; undefined if the provider returns no id. */
  readonly messageId: string | undefined;
}

/** How a provider serves a channel. */
export interface ChannelSpec {
  /** Which addresses the provider accepts besides those registered with it: all of the channel, or those that match. */
  readonly addresses: "shared" | { accepts(identity: string): boolean };
  /** The first one whose condition holds is used. */
  readonly send: readonly SendSpec[];
}

/** A rule that maps a provider's refusal to a message failure; the first match decides. */
export interface FailureRule {
  readonly classes: ReadonlySet<AnswerClass> | undefined;
  /** A condition about `class`, `code` and `message`. */
  readonly when: CelExpression | undefined;
  readonly as: MessageFailure;
  /** Whether the address is permanently unreachable. */
  readonly suppress: boolean;
}

/** How the event in a callback is recognised. */
export interface MessageEventSpec {
  readonly when: CelExpression;
  readonly kind: MessageEventKind;
  readonly severity: "" | "hard" | "soft";
  /** Whether a machine caused the event, such as a mail client that loads all images. */
  readonly machine: CelExpression | undefined;
}

/** A signed notification of Amazon SNS. Anyone can own a topic, so the topic must be the configured one. */
export interface SnsVerifySpec {
  readonly kind: "aws_sns";
  readonly topic: TextTemplate;
}

/** How callbacks about messages are verified and read. Conditions and expressions use headers, query, body and item. */
export interface CallbackSpec {
  readonly verify: Exclude<VerifySpec, { kind: "none" }> | SnsVerifySpec;
  /** The secret of the connection; undefined for SNS. Without a value the provider sends no callbacks. */
  readonly secret: ValueTemplate | undefined;
  readonly challenge: ChallengeSpec | undefined;
  /** A pointer to a text with JSON, which is the item. */
  readonly unwrap: string | undefined;
  /** A pointer to the items; `*` stands for every element. Undefined: the whole body is the only item. */
  readonly items: string | undefined;
  readonly messageId: {
    readonly value: CelExpression;
    /** The id ends before this text. */
    readonly before: string | undefined;
  };
  readonly eventId: CelExpression;
  /** Seconds since 1970, or RFC 3339. */
  readonly occurredAt: CelExpression | undefined;
  readonly events: readonly MessageEventSpec[];
  readonly attributes: OutputSpec | undefined;
}

/** How a provider sends notifications. */
export interface MessageSpec {
  readonly channels: ReadonlyMap<MessageChannel, ChannelSpec>;
  readonly failures: readonly FailureRule[];
  readonly callbacks: CallbackSpec | undefined;
}
