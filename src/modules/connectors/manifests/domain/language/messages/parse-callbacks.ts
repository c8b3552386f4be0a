import { isJsonObject, type Json, ObjectReader } from "../../../../../../platform/document/index.ts";
import type { AuthSpec } from "../../auth-spec.ts";
import { type CallbackSpec, type MessageEventSpec, messageEventKinds } from "../../message-spec.ts";
import { type CompileContext, providerScope, type TemplateScope } from "../compile-context.ts";
import { formats, limits } from "../limits.ts";
import { deliveryVariables, parseExpression } from "../parse-condition.ts";
import { parseText, parseValue } from "../parse-template.ts";
import { readChallenge } from "../parse-trigger.ts";
import { parseVerify } from "../parse-verify.ts";
import { optionalPointer, output } from "../response.ts";
import { callbackMembers, messageEventMembers } from "./message-schema.ts";

const example =
  '{"verify": {"kind": "hmac", "header": "x-signature"}, "secret": "{credentials.webhook_secret}", "message_id": "item.id", …}';

/** Reads how callbacks about messages are verified and read; undefined if the provider sends none. */
export function* parseCallbacks(
  parent: ObjectReader,
  context: CompileContext,
  auth: readonly AuthSpec[],
): Generator<void, CallbackSpec | undefined> {
  if (!parent.has("callbacks")) return undefined;
  const { violations } = context;
  const reader = ObjectReader.open(parent.get("callbacks"), parent.pathOf("callbacks"), violations, {
    known: callbackMembers,
    example,
    what: "callbacks",
  });
  if (reader === undefined) return undefined;
  const scope: TemplateScope = {
    ...providerScope(context),
    credentials: new Set(auth.flatMap(({ fields }) => fields.map(({ name }) => name))),
  };
  const verify = readVerify(reader, scope);
  const secret = readSecret(reader, scope, verify);
  const messageId = readMessageId(reader);
  const eventId = expression(reader, "event_id", '"item.id"');
  const events = yield* readEvents(reader);
  if (verify === undefined || messageId === undefined || eventId === undefined) return undefined;
  return {
    verify,
    secret,
    challenge: readChallenge(reader),
    unwrap: optionalPointer(reader, "unwrap"),
    items: optionalPointer(reader, "items"),
    messageId,
    eventId,
    occurredAt: reader.has("occurred_at") ? expression(reader, "occurred_at", '"item.timestamp"') : undefined,
    events,
    attributes: output("attributes").read(reader, context),
  };
}

function readVerify(reader: ObjectReader, scope: TemplateScope): CallbackSpec["verify"] | undefined {
  const { violations } = reader;
  const value = reader.required("verify", '{"kind": "hmac", "header": "x-signature"}');
  if (value === undefined) return undefined;
  const path = reader.pathOf("verify");
  if (isJsonObject(value) && value.kind === "aws_sns") {
    const sns = ObjectReader.open(value, path, violations, {
      known: ["kind", "topic"],
      example: '{"kind": "aws_sns", "topic": "{settings.topic_arn}"}',
      what: "a verification",
    });
    const topic =
      sns && parseText(sns.required("topic", '"{settings.topic_arn}"'), sns.pathOf("topic"), scope, violations);
    return topic && { kind: "aws_sns", topic };
  }
  const verify = parseVerify(value, path, violations);
  if (verify?.kind !== "none") return verify;
  return violations.add(path, "choice", "must verify callbacks: they suppress addresses");
}

/** The secret of SNS is the certificate of Amazon, which its notifications name. */
function readSecret(
  reader: ObjectReader,
  scope: TemplateScope,
  verify: CallbackSpec["verify"] | undefined,
): CallbackSpec["secret"] {
  if (verify?.kind === "aws_sns") {
    if (reader.has("secret")) reader.refuse("secret", "exclusive", "is not used with aws_sns");
    return undefined;
  }
  const value = reader.required("secret", '"{credentials.webhook_secret}"');
  return value === undefined ? undefined : parseValue(value, reader.pathOf("secret"), scope, reader.violations);
}

function readMessageId(reader: ObjectReader): CallbackSpec["messageId"] | undefined {
  const value = reader.required("message_id", '"item.id"');
  if (!isJsonObject(value)) {
    const found = value && expression(reader, "message_id", '"item.id"');
    return found ? { value: found, before: undefined } : undefined;
  }
  const inner = ObjectReader.open(value, reader.pathOf("message_id"), reader.violations, {
    known: ["value", "before"],
    example: '{"value": "item.id", "before": "."}',
    what: "a message id",
  });
  const found = inner && expression(inner, "value", '"item.id"');
  return found && { value: found, before: inner.text("before", formats.title) };
}

function expression(reader: ObjectReader, name: string, sample: string) {
  const value: Json | undefined = reader.required(name, sample);
  return parseExpression(value, reader.pathOf(name), reader.violations, deliveryVariables, "any");
}

function* readEvents(reader: ObjectReader): Generator<void, readonly MessageEventSpec[]> {
  const { violations } = reader;
  const sample = '[{"when": "item.event == \\"delivered\\"", "kind": "delivered"}]';
  reader.required("events", sample);
  const events: MessageEventSpec[] = [];
  for (const [at, value] of (reader.list("events", { min: 1, max: limits.events }, sample) ?? []).entries()) {
    const event = ObjectReader.open(value, `${reader.pathOf("events")}[${at}]`, violations, {
      known: messageEventMembers,
      example: '{"when": "item.event == \\"delivered\\"", "kind": "delivered"}',
      what: "an event",
    });
    if (event === undefined) continue;
    const condition = event.required("when", '"item.event == \\"delivered\\""');
    const when = parseExpression(condition, event.pathOf("when"), violations, deliveryVariables, "bool");
    const machine = parseExpression(
      event.get("machine"),
      event.pathOf("machine"),
      violations,
      deliveryVariables,
      "bool",
    );
    event.required("kind", '"delivered"');
    const kind = event.choice("kind", messageEventKinds, "delivered");
    const severity = event.choice("severity", ["", "hard", "soft"], "");
    if (when !== undefined) events.push({ when, kind, severity, machine });
    yield;
  }
  return events;
}
