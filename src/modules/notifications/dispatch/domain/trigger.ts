import { invalid } from "../../../../errors/index.ts";
import type { Channel } from "../../subscribers/index.ts";
import type { Overrides } from "./plan.ts";

/** Whom a trigger is for: a subscriber by its external id or its id, or the members of a topic. */
export interface Audience {
  readonly kind: "external" | "subscriber" | "topic";
  readonly name: string;
}

/** What is to be said to whom. */
export interface Trigger {
  readonly workflowKey: string;
  readonly audience: Audience;
  /** Undefined for every channel that preferences allow. */
  readonly channels: readonly Channel[] | undefined;
  readonly overrides: Overrides;
  readonly userId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The most bytes that a payload may take with the overrides. */
const payloadBytesMax = 256 * 1024;

/** Whom a request names: by exactly one of the three ways. */
export function audienceOf(asked: {
  readonly subscriberExternalId: string;
  readonly subscriberId: string;
  readonly topic: string;
}): Audience {
  const { subscriberExternalId: externalId, subscriberId, topic: topicKey } = asked;
  if ([externalId, subscriberId, topicKey].filter((name) => name !== "").length !== 1) {
    throw invalid("subscriber_external_id", "one_recipient", "give exactly one of this, subscriber_id and topic");
  }
  if (externalId !== "") return { kind: "external", name: externalId };
  return subscriberId !== "" ? { kind: "subscriber", name: subscriberId } : { kind: "topic", name: topicKey };
}

/** What a trigger carries, as it is kept and as text. */
export interface Carried {
  readonly body: Readonly<Pick<Trigger, "payload" | "overrides">>;
  readonly text: string;
}

/** What a trigger carries; refuses what is too large. */
export function bodyOf({ payload, overrides }: Pick<Trigger, "payload" | "overrides">): Carried {
  const body = { payload, overrides };
  const text = JSON.stringify(body);
  if (Buffer.byteLength(text) > payloadBytesMax) {
    throw invalid("payload", "max_bytes", "must take at most 256 KiB as JSON with the overrides");
  }
  return { body, text };
}
