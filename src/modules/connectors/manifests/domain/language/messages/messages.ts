import {
  isJsonObject,
  type Json,
  type JsonObject,
  memberPath,
  type ObjectReader,
} from "../../../../../../platform/document/index.ts";
import {
  choice,
  defineObject,
  flag,
  listSchema,
  type Member,
  object,
  objects,
  optional,
  required,
  text,
  type ValueOf,
} from "../../../../../../platform/json-schema/index.ts";
import type { ValueTemplate } from "../../template.ts";
import { type Action, checkAction } from "../action.ts";
import type { AuthSpec } from "../auth/modes.ts";
import { type CompileContext, messageScope } from "../compile-context.ts";
import { parsePattern } from "../fields.ts";
import { formats, limits } from "../limits.ts";
import { define, expression, pointer, raw, ref, valueTemplate, withoutDefault } from "../members.ts";
import { messageVariables, refusalVariables } from "../parse-condition.ts";
import { suggest } from "../parse-template.ts";
import { type AnswerClass, answerClasses } from "../response.ts";
import { type CallbackSpec, callbacksSchema, parseCallbacks } from "./callbacks.ts";

/** The channels that providers can serve. Messages in the app never leave the service. */
const messageChannels = ["email", "sms", "push", "chat"] as const;
export type MessageChannel = (typeof messageChannels)[number];

/** The outcome of a message that a provider refused. */
const messageFailures = [
  "recipient_rejected",
  "content_rejected",
  "auth_rejected",
  "quota_exhausted",
  "rate_limited",
  "unavailable",
] as const;
export type MessageFailure = (typeof messageFailures)[number];

/** Passed to the readers of channels: the actions of the manifest. */
interface SendContext extends CompileContext {
  readonly actions: ReadonlyMap<string, Action>;
}

const input: Member<ValueTemplate, CompileContext> = {
  ...{ name: "input", schema: { type: "object" }, isRequired: true },
  read(reader, context) {
    reader.required("input", '{"to": "{message.to}"}');
    const scoped = { ...context, scope: messageScope(context) };
    const read = valueTemplate("input", {}).read(reader, scoped) ?? { kind: "object", members: [] };
    if (read.kind !== "object") reader.refuse("input", "type", "must be an object");
    return read;
  },
};

const sendMembers = {
  /** A condition about the message; undefined: every message. */
  when: expression("when", messageVariables, "bool"),
  /** The name of the action. */
  action: text("action", formats.operation),
  input,
  /** A pointer into the output of the action; undefined if the provider returns no id. */
  messageId: optional(pointer("message_id")),
};

const sendExample = '{"action": "email.send", "input": {"to": "{message.to}"}, "message_id": "/id"}';
const send = defineObject("a send", sendExample, sendMembers, (send, reader, context: SendContext) => {
  const action = context.actions.get(send.action);
  const given = reader.get("input");
  if (send.action !== "") checkAction(send.action, "action", reader, context);
  if (action !== undefined && (action.runtime.status !== "executable" || action.paginate !== undefined)) {
    reader.refuse("action", "reference", "must be an executable action that sends one request");
  }
  if (isJsonObject(given) && action !== undefined) checkProperties(reader, given, action);
  return send;
});

/** How a message becomes the input of an action. */
export type SendSpec = ValueOf<typeof send>;

/** The input must have the properties that the action requires, and no others. */
function checkProperties(reader: ObjectReader, given: JsonObject, { inputSchema }: Action): void {
  const properties = isJsonObject(inputSchema.properties) ? Object.keys(inputSchema.properties) : [];
  for (const name of Object.keys(given)) {
    if (inputSchema.additionalProperties !== false || properties.includes(name)) continue;
    const path = memberPath(reader.pathOf("input"), name);
    reader.violations.add(path, "unknown_field", suggest(name, properties, "inputs of the action"));
  }
  for (const name of (inputSchema.required ?? []) as readonly string[]) {
    if (Object.hasOwn(given, name)) continue;
    reader.violations.add(memberPath(reader.pathOf("input"), name), "required", "is required by the action");
  }
}

const addressObject = define(
  "addresses",
  '{"pattern": "^[0-9a-f]{64}$"}',
  { pattern: required(raw("pattern", { type: "string" }), '"^[0-9a-f]{64}$"') },
  ({ pattern }, reader) => {
    const accepts = pattern === undefined ? undefined : parsePattern(pattern, reader);
    return { accepts: accepts ?? (() => false) };
  },
);

const sendsExample = '[{"action": "email.send", "input": {"to": "{message.to}"}}]';
const sends = objects("send", { ...send, schema: ref("send") }, { min: 1, max: limits.sends }, sendsExample);
const channel = define("a channel", `{"send": ${sendsExample}}`, {
  addresses: raw("addresses", { oneOf: [{ const: "shared" }, addressObject.schema] }),
  send: required(sends, sendsExample),
});

/** How a provider serves a channel. */
export interface ChannelSpec {
  /** Which addresses the provider accepts besides those registered with it: all of the channel, or those that match. */
  readonly addresses: "shared" | { accepts(identity: string): boolean };
  /** The first one whose condition holds is used. */
  readonly send: readonly SendSpec[];
}

function readChannel(name: MessageChannel, value: Json, path: string, context: SendContext): ChannelSpec | undefined {
  const reader = channel.open(value, path, context);
  if (reader === undefined) return undefined;
  const { addresses, send } = channel.readMembers(reader, context);
  if (addresses === "shared") return { addresses, send };
  // Addresses of mail and telephones belong to no provider. Others are told apart by a pattern.
  if (addresses === undefined)
    return { addresses: name === "email" || name === "sms" ? "shared" : { accepts: () => true }, send };
  return { addresses: object("addresses", addressObject).read(reader, context), send };
}

const classes: Member<ReadonlySet<AnswerClass> | undefined> = {
  name: "class",
  schema: listSchema({ enum: answerClasses.filter((each) => each !== "ok") }, 1, answerClasses.length, false),
  isRequired: false,
  read(rule, { violations }) {
    const list = rule.list("class", { min: 1, max: answerClasses.length }, '["not_found"]');
    for (const [at, each] of (list ?? []).entries()) {
      if (answerClasses.includes(each as AnswerClass) && each !== "ok") continue;
      violations.add(`${rule.pathOf("class")}[${at}]`, "choice", suggest(each, answerClasses, "classes"));
    }
    return list && new Set(list as readonly AnswerClass[]);
  },
};

const failure = define(
  "a failure",
  '{"class": ["not_found"], "as": "recipient_rejected"}',
  {
    classes,
    /** A condition about `class`, `code` and `message`. */
    when: expression("when", refusalVariables, "bool"),
    as: required(withoutDefault(choice("as", messageFailures, "content_rejected")), '"recipient_rejected"'),
    /** Whether the address is permanently unreachable. */
    suppress: flag("suppress", false),
  },
  (rule, reader, { violations }) => {
    if (!reader.has("class") && !reader.has("when")) {
      violations.add(reader.path, "required", "must have class, when or both: it would match every refusal");
    }
    return rule;
  },
);

/** A rule that maps a provider's refusal to a message failure; the first match decides. */
export type FailureRule = ValueOf<typeof failure>;

const channelsExample = '{"email": {"send": [{"action": "email.send", "input": {"to": "{message.to}"}}]}}';
const channelsSchema: JsonObject = {
  ...{ type: "object", minProperties: 1 },
  properties: Object.fromEntries(messageChannels.map((channel) => [channel, ref("message_channel")])),
  additionalProperties: false,
};

const notifications = define("notifications", `{"channels": ${channelsExample}}`, {
  channels: required(raw("channels", channelsSchema), channelsExample),
  failures: objects(
    "failures",
    { ...failure, schema: ref("message_failure") },
    { min: 0, max: limits.errorRules },
    '[{"class": ["not_found"], "as": "recipient_rejected", "suppress": true}]',
  ),
  callbacks: raw("callbacks", ref("callbacks")),
});

/** How a provider sends notifications. */
export interface MessageSpec {
  readonly channels: ReadonlyMap<MessageChannel, ChannelSpec>;
  readonly failures: readonly FailureRule[];
  readonly callbacks: CallbackSpec | undefined;
}

/** Reads how a provider sends notifications; undefined if it does not. */
export function* parseMessages(
  value: Json | undefined,
  context: CompileContext,
  actions: ReadonlyMap<string, Action>,
  auth: readonly AuthSpec[],
): Generator<void, MessageSpec | undefined> {
  if (value === undefined) return undefined;
  const reader = notifications.open(value, "notifications", context);
  if (reader === undefined) return undefined;
  const { channels: given = {}, failures } = notifications.readMembers(reader, context);
  if (!isJsonObject(given)) {
    return reader.refuse("channels", "type", `must be an object, for example ${channelsExample}`);
  }
  const channels = new Map<MessageChannel, ChannelSpec>();
  for (const [name, each] of Object.entries(given)) {
    const path = memberPath("notifications.channels", name);
    if (!messageChannels.includes(name as MessageChannel)) {
      context.violations.add(path, "unknown_field", suggest(name, messageChannels, "channels"));
      continue;
    }
    const channel = readChannel(name as MessageChannel, each, path, { ...context, actions });
    if (channel !== undefined) channels.set(name as MessageChannel, channel);
    yield;
  }
  return { channels, failures, callbacks: yield* parseCallbacks(reader, context, auth) };
}

/** The schemas of notifications, by name. */
export const messageSchemas: JsonObject = {
  notifications: notifications.schema,
  message_channel: channel.schema,
  send: send.schema,
  message_failure: { ...failure.schema, anyOf: [{ required: ["class"] }, { required: ["when"] }] },
  callbacks: callbacksSchema,
};
