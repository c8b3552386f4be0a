import { isJsonObject, type ObjectReader } from "../../../../../../platform/document/index.ts";
import {
  choice,
  constant,
  listSchema,
  type Member,
  object,
  optional,
  required,
  text,
  type ValueOf,
} from "../../../../../../platform/json-schema/index.ts";
import type { ValueTemplate } from "../../template.ts";
import type { AuthSpec } from "../auth/modes.ts";
import { type CompileContext, providerScope } from "../compile-context.ts";
import { formats, limits } from "../limits.ts";
import {
  define,
  expression,
  pointer,
  raw,
  requiredExpression,
  template,
  valueTemplate,
  withoutDefault,
} from "../members.ts";
import { deliveryVariables } from "../parse-condition.ts";
import { output, readEach } from "../response.ts";
import { challenge } from "../trigger.ts";
import { type VerifySpec, verify } from "../verify.ts";

/** Events that a provider reports about a message after accepting it. */
const messageEventKinds = [
  "delivered",
  "deferred",
  "bounced",
  "blocked",
  "dropped",
  "rejected",
  "complained",
  "unsubscribed",
  "opened",
  "clicked",
  "seen",
  "read",
  "token_invalidated",
] as const;
export type MessageEventKind = (typeof messageEventKinds)[number];

const sns = define("a verification", '{"kind": "aws_sns", "topic": "{settings.topic_arn}"}', {
  kind: constant("kind", "aws_sns", ""),
  topic: { ...required(template("topic"), '"{settings.topic_arn}"'), schema: { type: "string" } },
});

/** A signed notification of Amazon SNS. Anyone can own a topic, so the topic must be the configured one. */
export type SnsVerifySpec = ValueOf<typeof sns>;

function isSns(reader: ObjectReader): boolean {
  const value = reader.get("verify");
  return isJsonObject(value) && value.kind === "aws_sns";
}

const callbackVerify: Member<Exclude<VerifySpec, { kind: "none" }> | SnsVerifySpec, CompileContext> = {
  ...{ name: "verify", schema: { oneOf: [verify.schema, sns.schema] }, isRequired: true },
  read(reader, context) {
    const value = reader.required("verify", '{"kind": "hmac", "header": "x-signature"}');
    if (value === undefined) return sns.readEmpty(context);
    if (isSns(reader)) return object("verify", sns).read(reader, context);
    const read = verify.read(reader, context);
    if (read.kind !== "none") return read;
    if (isJsonObject(value) && value.kind === "none")
      reader.refuse("verify", "choice", "must verify callbacks: they suppress addresses");
    return sns.readEmpty(context);
  },
};

/** The secret of the connection; undefined for SNS. Without a value the provider sends no callbacks. */
const secret: Member<ValueTemplate | undefined, CompileContext> = {
  ...valueTemplate("secret", { type: ["string", "object"] }),
  read(reader, context) {
    // The secret of SNS is the certificate of Amazon, which its notifications name.
    if (!isSns(reader)) reader.required("secret", '"{credentials.webhook_secret}"');
    else if (reader.has("secret")) return reader.refuse("secret", "exclusive", "is not used with aws_sns");
    return valueTemplate("secret", {}).read(reader, context);
  },
};

function requiredItem(name: string) {
  return requiredExpression(name, deliveryVariables, "any", '"item.id"');
}

const cutId = define("a message id", '{"value": "item.id", "before": "."}', {
  value: requiredItem("value"),
  /** The id ends before this text. */
  before: { ...text("before", formats.title), isRequired: false },
});

interface MessageId extends Pick<ValueOf<typeof cutId>, "value"> {
  readonly before: string | undefined;
}

const messageId: Member<MessageId, CompileContext> = {
  name: "message_id",
  schema: { oneOf: [requiredItem("message_id").schema, cutId.schema] },
  isRequired: true,
  read: (reader, context) =>
    isJsonObject(reader.get("message_id"))
      ? object("message_id", cutId).read(reader, context)
      : { value: requiredItem("message_id").read(reader, context), before: undefined },
};

const event = define("an event", '{"when": "item.event == \\"delivered\\"", "kind": "delivered"}', {
  when: requiredExpression("when", deliveryVariables, "bool", '"item.event == \\"delivered\\""'),
  kind: required(withoutDefault(choice("kind", messageEventKinds, "delivered")), '"delivered"'),
  severity: choice("severity", ["", "hard", "soft"], ""),
  /** Whether a machine caused the event, such as a mail client that loads all images. */
  machine: expression("machine", deliveryVariables, "bool"),
});

/** How the event in a callback is recognised. */
export type MessageEventSpec = ValueOf<typeof event>;

const eventsExample = '[{"when": "item.event == \\"delivered\\"", "kind": "delivered"}]';
const eventsSize = { min: 1, max: limits.events };

const callbacks = define(
  "callbacks",
  '{"verify": {"kind": "hmac", "header": "x-signature"}, "secret": "{credentials.webhook_secret}", "message_id": "item.id", …}',
  {
    verify: callbackVerify,
    secret,
    challenge,
    /** A pointer to a text with JSON, which is the item. */
    unwrap: optional(pointer("unwrap")),
    /** A pointer to the items; `*` stands for every element. Undefined: the whole body is the only item. */
    items: optional(pointer("items")),
    messageId,
    eventId: requiredItem("event_id"),
    /** Seconds since 1970, or RFC 3339. */
    occurredAt: expression("occurred_at", deliveryVariables, "any"),
    events: required(raw("events", listSchema(event.schema, eventsSize.min, eventsSize.max, false)), eventsExample),
    attributes: output("attributes"),
  },
  ({ events: _events, ...callbacks }) => callbacks,
);

/** How callbacks about messages are verified and read. Conditions and expressions use headers, query, body and item. */
export interface CallbackSpec extends ValueOf<typeof callbacks> {
  readonly events: readonly MessageEventSpec[];
}

/** Reads how callbacks about messages are verified and read; undefined if the provider sends none. */
export function* parseCallbacks(
  parent: ObjectReader,
  context: CompileContext,
  auth: readonly AuthSpec[],
): Generator<void, CallbackSpec | undefined> {
  if (!parent.has("callbacks")) return undefined;
  const reader = callbacks.open(parent.get("callbacks"), parent.pathOf("callbacks"), context);
  if (reader === undefined) return undefined;
  const credentials = new Set(auth.flatMap(({ fields }) => fields.map(({ name }) => name)));
  const scoped = { ...context, scope: { ...providerScope(context), credentials } };
  const listed = reader.list("events", eventsSize, eventsExample) ?? [];
  const events = yield* readEach(event, listed, reader.pathOf("events"), context);
  return { ...callbacks.readMembers(reader, scoped), events };
}

/** The JSON Schema of callbacks. */
export const callbacksSchema = callbacks.schema;
