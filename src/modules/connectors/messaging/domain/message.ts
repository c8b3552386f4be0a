import type { MessageChannel, MessageEventKind, MessageFailure } from "../../manifests/index.ts";

/** A notification to send through a provider. */
export interface ChannelMessage {
  readonly deliveryId: string;
  /** The same for all attempts. */
  readonly key: string;
  readonly channel: MessageChannel;
  readonly to: { readonly identity: string; readonly metadata: Readonly<Record<string, unknown>> };
  readonly subject: string;
  readonly title: string;
  readonly text: string;
  readonly html: string;
  /** The headers of a mail, by name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly data: Readonly<Record<string, unknown>>;
  /** The files of a mail, with their content in base64. */
  readonly attachments: readonly {
    readonly filename: string;
    readonly contentType: string;
    readonly content: string;
  }[];
}

/**
 * The outcome of a message. unsendable: it does not fit the provider. refused: the provider did not accept it. unsent: the
 * provider was not reached. unknown: the provider may have accepted it.
 */
export type MessageOutcome =
  | { readonly kind: "accepted"; readonly messageId: string; readonly isObserved: boolean }
  | { readonly kind: "unsendable"; readonly detail: string }
  | {
      readonly kind: "refused";
      /** Undefined if nothing is known about the reason. */
      readonly failure: MessageFailure | undefined;
      readonly detail: string;
      readonly suppress: boolean;
      readonly retryAfterMs: number | undefined;
    }
  | {
      readonly kind: "unsent";
      readonly fault: "denied" | "dns_failed" | "connect_failed" | "tls_failed" | "timeout" | "cancelled";
    }
  | { readonly kind: "unknown"; readonly isRepeatable: boolean; readonly detail: string };

/** An event that a provider reports about a message. */
export interface MessageEvent {
  readonly providerMessageId: string;
  /** The same when the provider reports the event again. */
  readonly providerEventId: string;
  readonly kind: MessageEventKind;
  readonly occurredAtMs: number;
  readonly severity: "" | "hard" | "soft";
  readonly machineGenerated: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A callback of a provider. */
export interface MessageCallback {
  readonly method: "GET" | "POST";
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Buffer;
  /** The public URL with its query. */
  readonly url: string;
}

/** The reply to a provider that checks the URL. */
export interface CallbackReply {
  readonly contentType: string;
  readonly body: string;
}

/** The events of a callback. refused: it is not authentic. malformed: it is authentic but cannot be read. */
export type CallbackResult = readonly MessageEvent[] | "refused" | "malformed" | { readonly reply: CallbackReply };
