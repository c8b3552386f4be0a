import type { JsonObject } from "../../../../../../platform/document/index.ts";
import {
  listSchema as list,
  objectSchema as object,
  textSchema as text,
} from "../../../../../../platform/json-schema/index.ts";
import { messageChannels, messageEventKinds, messageFailures } from "../../message-spec.ts";
import { answerClasses } from "../../response-spec.ts";
import { formats, limits } from "../limits.ts";
import type { callbackMembers, messageEventMembers } from "./parse-callbacks.ts";
import type { channelMembers, failureMembers, messageMembers, sendMembers } from "./parse-messages.ts";

type Members<Names extends readonly string[]> = Readonly<Record<Names[number], JsonObject>>;

const expression: JsonObject = { type: "string", description: "A CEL expression." };
const pointer = text(formats.pointer);

/** The definitions of the member `notifications` in the JSON Schema of the manifest language. */
export function messageDefinitions(): JsonObject {
  const notifications: Members<typeof messageMembers> = {
    channels: {
      type: "object",
      minProperties: 1,
      properties: Object.fromEntries(messageChannels.map((channel) => [channel, ref("message_channel")])),
      additionalProperties: false,
    },
    failures: list(ref("message_failure"), 0, limits.errorRules, false),
    callbacks: ref("callbacks"),
  };
  const channel: Members<typeof channelMembers> = {
    addresses: { oneOf: [{ const: "shared" }, object({ pattern: { type: "string" } }, ["pattern"])] },
    send: list(ref("send"), 1, limits.sends, false),
  };
  const send: Members<typeof sendMembers> = {
    when: expression,
    action: text(formats.operation),
    input: { type: "object" },
    message_id: pointer,
  };
  const failure: Members<typeof failureMembers> = {
    class: list({ enum: answerClasses.filter((each) => each !== "ok") }, 1, answerClasses.length, false),
    when: expression,
    as: { enum: messageFailures },
    suppress: { type: "boolean", default: false },
  };
  return {
    notifications: object(notifications, ["channels"]),
    message_channel: object(channel, ["send"]),
    send: object(send, ["action", "input"]),
    message_failure: { ...object(failure, ["as"]), anyOf: [{ required: ["class"] }, { required: ["when"] }] },
    callbacks: callbacks(),
  };
}

function callbacks(): JsonObject {
  const event: Members<typeof messageEventMembers> = {
    when: expression,
    kind: { enum: messageEventKinds },
    severity: { enum: ["", "hard", "soft"], default: "" },
    machine: expression,
  };
  const sns = object({ kind: { const: "aws_sns" }, topic: { type: "string" } }, ["kind", "topic"]);
  const members: Members<typeof callbackMembers> = {
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
  return object(members, ["verify", "message_id", "event_id", "events"]);
}

function ref(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}
