import type { JsonObject } from "../../../../../../platform/document/index.ts";
import {
  listSchema as list,
  objectSchema as object,
  textSchema as text,
} from "../../../../../../platform/json-schema/index.ts";
import { messageChannels, messageEventKinds, messageFailures } from "../../message-spec.ts";
import { answerClasses } from "../../response-spec.ts";
import { formats, limits } from "../limits.ts";

const expression: JsonObject = { type: "string", description: "A CEL expression." };
const pointer = text(formats.pointer);

const notifications = {
  channels: {
    type: "object",
    minProperties: 1,
    properties: Object.fromEntries(messageChannels.map((channel) => [channel, ref("message_channel")])),
    additionalProperties: false,
  },
  failures: list(ref("message_failure"), 0, limits.errorRules, false),
  callbacks: ref("callbacks"),
};
const channel = {
  addresses: { oneOf: [{ const: "shared" }, object({ pattern: { type: "string" } }, ["pattern"])] },
  send: list(ref("send"), 1, limits.sends, false),
};
const send = {
  when: expression,
  action: text(formats.operation),
  input: { type: "object" },
  message_id: pointer,
};
const failure = {
  class: list({ enum: answerClasses.filter((each) => each !== "ok") }, 1, answerClasses.length, false),
  when: expression,
  as: { enum: messageFailures },
  suppress: { type: "boolean", default: false },
};
const event = {
  when: expression,
  kind: { enum: messageEventKinds },
  severity: { enum: ["", "hard", "soft"], default: "" },
  machine: expression,
};
const sns = object({ kind: { const: "aws_sns" }, topic: { type: "string" } }, ["kind", "topic"]);
const callbacks = {
  verify: { oneOf: [ref("verify"), sns] },
  secret: { type: ["string", "object"] },
  challenge: object({ when: expression, respond: { type: "object", minProperties: 1, maxProperties: 1 } }, [
    "when",
    "respond",
  ]),
  unwrap: pointer,
  items: pointer,
  message_id: { oneOf: [expression, object({ value: expression, before: text(formats.title) }, ["value"])] },
  event_id: expression,
  occurred_at: expression,
  events: list(object(event, ["when", "kind"]), 1, limits.events, false),
  attributes: ref("output"),
};

// The compiler knows exactly these members. Its messages list them in this order.
export const messageMembers = Object.keys(notifications);
export const channelMembers = Object.keys(channel);
export const sendMembers = Object.keys(send);
export const failureMembers = Object.keys(failure);
export const callbackMembers = Object.keys(callbacks);
export const messageEventMembers = Object.keys(event);

/** The definitions of the member `notifications` in the JSON Schema of the manifest language. */
export function messageDefinitions(): JsonObject {
  return {
    notifications: object(notifications, ["channels"]),
    message_channel: object(channel, ["send"]),
    send: object(send, ["action", "input"]),
    message_failure: { ...object(failure, ["as"]), anyOf: [{ required: ["class"] }, { required: ["when"] }] },
    callbacks: object(callbacks, ["verify", "message_id", "event_id", "events"]),
  };
}

function ref(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}
