import type { Violation } from "../../../../errors/index.ts";
import type { Markup } from "../../../../platform/templates/index.ts";
import type { MessageEvent, OpenConnection } from "../../../connectors/index.ts";
import type { MailAttachment } from "../../preferences/index.ts";
import type { Channel } from "../../subscribers/index.ts";
import type { SendFailure } from "./failure.ts";
import type { FieldRules } from "./fields.ts";

/** A message to send through a provider. */
export interface OutgoingMessage {
  readonly deliveryId: string;
  /** The idempotency key. It is the same for all attempts; a redrive after a definite failure gets a new one. */
  readonly key: string;
  readonly channel: Channel;
  readonly to: { readonly identity: string; readonly metadata: Readonly<Record<string, unknown>> };
  readonly subject: string;
  readonly title: string;
  readonly text: string;
  readonly html: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The files of a mail, with their content in base64. */
  readonly attachments: readonly MailAttachment[];
}

export type SendResult =
  | {
      readonly kind: "accepted";
      readonly providerMessageId: string;
      /** Whether the provider may report later what happened to the message. */
      readonly observed: boolean;
    }
  | SendFailure;

/** The kind of an event that a provider reports about a message. */
export type ProviderEventKind = MessageEvent["kind"];

/** An event that a provider reports about a message. */
export interface ProviderEvent {
  readonly providerMessageId: string;
  /** The same when the provider reports the event again. */
  readonly providerEventId: string;
  readonly kind: ProviderEventKind;
  readonly occurredAtMs: number;
  readonly severity: "" | "hard" | "soft";
  /** Whether a machine caused the event rather than the recipient. */
  readonly machineGenerated: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The reply to a provider that checks the URL of its callbacks. */
export interface CallbackReply {
  readonly contentType: string;
  readonly body: string;
}

/** The events of a callback. refused: it is not authentic. malformed: it is authentic but cannot be parsed. */
export type CallbackEvents = readonly ProviderEvent[] | "refused" | "malformed";

/** A callback request from a provider. */
export interface ProviderCallback {
  readonly method: "GET" | "POST";
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Buffer;
  /** The full URL that the provider called. */
  readonly url: string;
}

/** The markup in which a provider interprets texts. Values inserted into them are escaped for it. */
export interface ProviderMarkup {
  readonly escape: Markup;
  /** Whether a property of an object in the message's data is markup too. */
  isMarkup(holder: Readonly<Record<string, unknown>>, name: string): boolean;
}

/** An external system that sends messages. */
export interface Provider {
  readonly channels: readonly Channel[];
  /** Whether it deduplicates by idempotency key, so that a message can safely be sent twice. */
  readonly deduplicates: boolean;
  /**
   * The addresses that it accepts. "shared": all addresses of its channels, such as telephone numbers. Otherwise: those
   * registered with it, and those without a provider for which the function returns true.
   */
  readonly addresses: "shared" | ((identity: string) => boolean);
  /** Undefined when texts are plain, or HTML on email. */
  readonly markup?: ProviderMarkup;
  readonly settings: FieldRules;
  readonly credentials: FieldRules;
  /** Checks that span several fields. */
  readonly check?: (
    settings: Readonly<Record<string, unknown>>,
    credentials: Readonly<Record<string, string>>,
  ) => readonly Violation[];
  /** Sends a message. An exception counts as an unknown outcome. */
  send(connection: OpenConnection, message: OutgoingMessage, signal: AbortSignal): Promise<SendResult>;
  /** Authenticates and parses a callback; undefined for a provider without callbacks. */
  readonly callback?: (connection: OpenConnection, request: ProviderCallback, nowMs: number) => CallbackEvents;
  /** Closes idle connections. */
  readonly close?: () => void;
}
