import {
  isJsonObject,
  type Json,
  type JsonObject,
  memberPath,
  ObjectReader,
} from "../../../../../../platform/document/index.ts";
import type { Action } from "../../action.ts";
import type { AuthSpec } from "../../auth-spec.ts";
import {
  type ChannelSpec,
  type FailureRule,
  type MessageChannel,
  type MessageSpec,
  messageChannels,
  messageFailures,
  type SendSpec,
} from "../../message-spec.ts";
import { type AnswerClass, answerClasses } from "../../response-spec.ts";
import { type CompileContext, messageScope } from "../compile-context.ts";
import { formats, limits } from "../limits.ts";
import { messageVariables, parseExpression, refusalVariables } from "../parse-condition.ts";
import { flag, parsePattern } from "../parse-fields.ts";
import { parseValue, suggest } from "../parse-template.ts";
import { optionalPointer } from "../response.ts";
import { channelMembers, failureMembers, messageMembers, sendMembers } from "./message-schema.ts";
import { parseCallbacks } from "./parse-callbacks.ts";

const channelsExample = '{"email": {"send": [{"action": "email.send", "input": {"to": "{message.to}"}}]}}';

/** Reads how a provider sends notifications; undefined if it does not. */
export function* parseMessages(
  value: Json | undefined,
  context: CompileContext,
  actions: ReadonlyMap<string, Action>,
  auth: readonly AuthSpec[],
): Generator<void, MessageSpec | undefined> {
  if (value === undefined) return undefined;
  const reader = ObjectReader.open(value, "notifications", context.violations, {
    known: messageMembers,
    example: `{"channels": ${channelsExample}}`,
    what: "notifications",
  });
  if (reader === undefined) return undefined;
  const channels = new Map<MessageChannel, ChannelSpec>();
  const given = reader.required("channels", channelsExample);
  if (given !== undefined && !isJsonObject(given)) {
    return reader.refuse("channels", "type", `must be an object, for example ${channelsExample}`);
  }
  for (const [name, each] of Object.entries(given ?? {})) {
    const path = memberPath("notifications.channels", name);
    if (!messageChannels.includes(name as MessageChannel)) {
      context.violations.add(path, "unknown_field", suggest(name, messageChannels, "channels"));
      continue;
    }
    const channel = readChannel(name as MessageChannel, each, path, context, actions);
    if (channel !== undefined) channels.set(name as MessageChannel, channel);
    yield;
  }
  const failures = readFailures(reader);
  yield;
  return { channels, failures, callbacks: yield* parseCallbacks(reader, context, auth) };
}

function readChannel(
  name: MessageChannel,
  value: Json,
  path: string,
  context: CompileContext,
  actions: ReadonlyMap<string, Action>,
): ChannelSpec | undefined {
  const reader = ObjectReader.open(value, path, context.violations, {
    known: channelMembers,
    example: '{"send": [{"action": "email.send", "input": {"to": "{message.to}"}}]}',
    what: "a channel",
  });
  if (reader === undefined) return undefined;
  const example = '[{"action": "email.send", "input": {"to": "{message.to}"}}]';
  reader.required("send", example);
  const send = (reader.list("send", { min: 1, max: limits.sends }, example) ?? []).flatMap(
    (each, at) => readSend(each, `${reader.pathOf("send")}[${at}]`, context, actions) ?? [],
  );
  return { addresses: readAddresses(reader, name), send };
}

/** Addresses of mail and telephones belong to no provider. Others are told apart by a pattern. */
function readAddresses(reader: ObjectReader, channel: MessageChannel): ChannelSpec["addresses"] {
  const value = reader.get("addresses");
  if (value === "shared") return "shared";
  if (value === undefined) return channel === "email" || channel === "sms" ? "shared" : { accepts: () => true };
  const inner = ObjectReader.open(value, reader.pathOf("addresses"), reader.violations, {
    known: ["pattern"],
    example: '{"pattern": "^[0-9a-f]{64}$"}',
    what: "addresses",
  });
  const pattern = inner?.required("pattern", '"^[0-9a-f]{64}$"');
  const accepts = pattern === undefined ? undefined : parsePattern(pattern, inner!);
  return { accepts: accepts ?? (() => false) };
}

function readSend(
  value: Json,
  path: string,
  context: CompileContext,
  actions: ReadonlyMap<string, Action>,
): SendSpec | undefined {
  const { violations } = context;
  const reader = ObjectReader.open(value, path, violations, {
    known: sendMembers,
    example: '{"action": "email.send", "input": {"to": "{message.to}"}, "message_id": "/id"}',
    what: "a send",
  });
  if (reader === undefined) return undefined;
  const name = reader.text("action", formats.operation);
  const action = name === undefined ? undefined : actions.get(name);
  if (name !== undefined && !context.actionNames.has(name)) {
    reader.refuse("action", "reference", suggest(name, [...context.actionNames].slice(0, 100), "actions"));
  } else if (action !== undefined && (action.runtime.status !== "executable" || action.paginate !== undefined)) {
    reader.refuse("action", "reference", "must be an executable action that sends one request");
  }
  const given = reader.required("input", '{"to": "{message.to}"}');
  const input =
    given === undefined ? undefined : parseValue(given, reader.pathOf("input"), messageScope(context), violations);
  if (input !== undefined && input.kind !== "object") reader.refuse("input", "type", "must be an object");
  if (isJsonObject(given) && action !== undefined) checkProperties(reader, given, action);
  const when = parseExpression(reader.get("when"), reader.pathOf("when"), violations, messageVariables, "bool");
  if (name === undefined || input === undefined) return undefined;
  return { when, action: name, input, messageId: optionalPointer(reader, "message_id") };
}

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

function readFailures(reader: ObjectReader): readonly FailureRule[] {
  const { violations } = reader;
  const example = '[{"class": ["not_found"], "as": "recipient_rejected", "suppress": true}]';
  return (reader.list("failures", { min: 0, max: limits.errorRules }, example) ?? []).flatMap((each, at) => {
    const rule = ObjectReader.open(each, `${reader.pathOf("failures")}[${at}]`, violations, {
      known: failureMembers,
      example: '{"class": ["not_found"], "as": "recipient_rejected"}',
      what: "a failure",
    });
    if (rule === undefined) return [];
    if (!rule.has("class") && !rule.has("when")) {
      violations.add(rule.path, "required", "must have class, when or both: it would match every refusal");
    }
    rule.required("as", '"recipient_rejected"');
    return {
      classes: readClasses(rule),
      when: parseExpression(rule.get("when"), rule.pathOf("when"), violations, refusalVariables, "bool"),
      as: rule.choice("as", messageFailures, "content_rejected"),
      suppress: flag(rule, "suppress", false),
    };
  });
}

function readClasses(rule: ObjectReader): ReadonlySet<AnswerClass> | undefined {
  const list = rule.list("class", { min: 1, max: answerClasses.length }, '["not_found"]');
  for (const [at, each] of (list ?? []).entries()) {
    if (answerClasses.includes(each as AnswerClass) && each !== "ok") continue;
    rule.violations.add(`${rule.pathOf("class")}[${at}]`, "choice", suggest(String(each), answerClasses, "classes"));
  }
  return list && new Set(list as readonly AnswerClass[]);
}
