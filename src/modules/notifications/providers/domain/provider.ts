import type { Violation } from "../../../../errors/index.ts";
import type { Markup } from "../../../../platform/templates/index.ts";
import type { OpenConnection } from "../../../connectors/index.ts";
import type { Channel } from "../../subscribers/index.ts";
import type { SendFailure } from "./failure.ts";
import type { FieldRules } from "./fields.ts";

/** A message as it leaves. */
export interface OutgoingMessage {
  readonly deliveryId: string;
  /** The idempotency key. It is the same at every attempt, until somebody redrives what definitely failed. */
  readonly key: string;
  readonly channel: Channel;
  readonly to: { readonly identity: string; readonly metadata: Readonly<Record<string, unknown>> };
  readonly subject: string;
  readonly title: string;
  readonly text: string;
  readonly html: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What came of sending. */
export type SendResult =
  | {
      readonly kind: "accepted";
      readonly providerMessageId: string;
      /** Whether the provider may tell later what became of it. */
      readonly observed: boolean;
    }
  | SendFailure;

/** What a provider saw of a message that it took. */
export type ProviderEventKind =
  | "delivered"
  | "deferred"
  | "bounced"
  | "blocked"
  | "dropped"
  | "rejected"
  | "complained"
  | "unsubscribed"
  | "opened"
  | "clicked"
  | "seen"
  | "read"
  | "token_invalidated";

/** One thing that a provider tells about a message. */
export interface ProviderEvent {
  readonly providerMessageId: string;
  /** The same whenever the provider tells it again. */
  readonly providerEventId: string;
  readonly kind: ProviderEventKind;
  readonly occurredAtMs: number;
  readonly severity: "" | "hard" | "soft";
  /** Whether a machine did it, not the recipient. */
  readonly machineGenerated: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** What a callback tells. refused: it does not prove to be the provider's. malformed: it does, and is not understood. */
export type CallbackReading = readonly ProviderEvent[] | "refused" | "malformed";

/** What a provider sent to the address for its callbacks. */
export interface ProviderCallback {
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawBody: Buffer;
  /** The whole URL, as the provider called it. */
  readonly url: string;
}

/** The markup that a provider reads texts as. Values that are put into them are escaped for it. */
export interface ProviderMarkup {
  readonly escape: Markup;
  /** Whether a text of the message's data is markup too: a member of an object, by its name. */
  isMarkup(holder: Readonly<Record<string, unknown>>, name: string): boolean;
}

/** One way to send. */
export interface Provider {
  readonly channels: readonly Channel[];
  /** Whether it recognises a repeat by its key, so that the same message may be sent to it twice. */
  readonly deduplicates: boolean;
  /**
   * Which addresses it understands. "shared": all of its channels', such as telephone numbers. Otherwise those that were
   * registered with it, and of those that name no provider the ones that may be its own.
   */
  readonly addresses: "shared" | ((identity: string) => boolean);
  /** Undefined where texts are plain, or HTML on email. */
  readonly markup?: ProviderMarkup;
  readonly settings: FieldRules;
  readonly credentials: FieldRules;
  /** What the rules of single fields cannot tell. */
  readonly check?: (
    settings: Readonly<Record<string, unknown>>,
    credentials: Readonly<Record<string, string>>,
  ) => readonly Violation[];
  /** Sends; whatever it throws counts as a failure within. */
  send(connection: OpenConnection, message: OutgoingMessage, signal: AbortSignal): Promise<SendResult>;
  /** Reads a callback that proves to come from the provider; undefined for one that makes none. */
  readonly callback?: (connection: OpenConnection, request: ProviderCallback, nowMs: number) => CallbackReading;
  /** Lets go of connections that were kept for later. */
  readonly close?: () => void;
}
