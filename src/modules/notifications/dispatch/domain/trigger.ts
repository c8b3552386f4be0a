import { invalid } from "../../../../errors/index.ts";
import type { Channel } from "../../subscribers/index.ts";
import type { Overrides } from "./plan.ts";

/** The audience of a trigger: a subscriber by external id or id, or the members of a topic. */
export interface Audience {
  readonly kind: "external" | "subscriber" | "topic";
  readonly name: string;
}

/** A request to notify an audience. */
export interface Trigger {
  readonly workflowKey: string;
  readonly audience: Audience;
  /** Undefined for every channel that preferences allow. */
  readonly channels: readonly Channel[] | undefined;
  readonly overrides: Overrides;
  readonly userId: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The maximum size of a payload with its overrides. */
const payloadBytesMax = 256 * 1024;

/** Reads the audience of a request, which names it in exactly one of three fields. */
export function audienceOf(request: {
  readonly subscriberExternalId: string;
  readonly subscriberId: string;
  readonly topic: string;
}): Audience {
  const { subscriberExternalId: externalId, subscriberId, topic: topicKey } = request;
  if ([externalId, subscriberId, topicKey].filter((name) => name !== "").length !== 1) {
    throw invalid(
      "subscriber_external_id",
      "one_recipient",
      "set exactly one of subscriber_external_id, subscriber_id and topic",
    );
  }
  if (externalId !== "") return { kind: "external", name: externalId };
  return subscriberId !== "" ? { kind: "subscriber", name: subscriberId } : { kind: "topic", name: topicKey };
}

/** A trigger's payload and overrides, as stored and as JSON text. */
export interface SerializedPayload {
  readonly body: Readonly<Pick<Trigger, "payload" | "overrides">>;
  readonly text: string;
}

/** Serializes a trigger's payload and overrides; throws when they are too large. */
export function serializePayload({ payload, overrides }: Pick<Trigger, "payload" | "overrides">): SerializedPayload {
  const body = { payload, overrides };
  const text = JSON.stringify(body);
  if (Buffer.byteLength(text) > payloadBytesMax) {
    throw invalid("payload", "max_bytes", "must have at most 256 KiB as JSON, including overrides");
  }
  return { body, text };
}
