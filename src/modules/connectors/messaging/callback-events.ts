import { CelError, type CelExpression } from "../../../platform/cel/index.ts";
import { isJsonObject, isTooDeep, type Json } from "../../../platform/document/index.ts";
import { readJsonObject } from "../../../platform/protojson/formats/struct.ts";
import { Problems } from "../../../platform/protojson/index.ts";
import { type CallbackSpec, readOutput, valueAt, valuesAt } from "../manifests/index.ts";
import type { ReadDelivery } from "../triggers/index.ts";
import type { MessageEvent } from "./domain/message.ts";
import { holds } from "./domain/refusal.ts";

const itemsMax = 1000;
const levelsMax = 64;
const occurredAtMsMax = Date.UTC(2100, 0);

type Values = Readonly<Record<"headers" | "query" | "body" | "item" | "input", unknown>>;

/** The events of a verified callback; undefined if it cannot be read. What the manifest does not describe is ignored. */
export function eventsIn(
  spec: CallbackSpec,
  delivery: ReadDelivery,
  nowMs: number,
): readonly MessageEvent[] | undefined {
  const items = itemsOf(spec, delivery.body);
  if (items === undefined || items.length > itemsMax) return undefined;
  const { headers, query, body } = delivery;
  const events = items.map((item) => eventOf(spec, { headers, query, body, item, input: {} }, nowMs));
  return events.includes("malformed")
    ? undefined
    : events.flatMap((event) => (event === undefined || event === "malformed" ? [] : [event]));
}

function itemsOf({ unwrap, items }: CallbackSpec, body: Json): readonly Json[] | undefined {
  const whole = unwrap === undefined ? body : parse(valueAt(body, unwrap));
  if (whole === undefined || whole === null) return undefined;
  return items === undefined ? [whole] : valuesAt(whole, items);
}

function parse(text: Json | undefined): Json | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return isTooDeep(value, levelsMax) ? undefined : value;
  } catch {
    return undefined;
  }
}

function eventOf(spec: CallbackSpec, values: Values, nowMs: number): MessageEvent | "malformed" | undefined {
  const event = spec.events.find(({ when }) => holds(when, values));
  if (event === undefined) return undefined;
  const providerMessageId = cut(idOf(spec.messageId.value, values), spec.messageId.before);
  const providerEventId = idOf(spec.eventId, values);
  if (providerMessageId === undefined || providerEventId === undefined) return "malformed";
  return {
    providerMessageId,
    providerEventId,
    kind: event.kind,
    occurredAtMs: timeOf(spec.occurredAt && evaluate(spec.occurredAt, values)) ?? nowMs,
    severity: event.severity,
    machineGenerated: event.machine !== undefined && holds(event.machine, values),
    attributes: attributesOf(spec, values.item as Json),
  };
}

function evaluate(expression: CelExpression, values: Values): unknown {
  try {
    return expression.evaluate(values);
  } catch (error) {
    if (error instanceof CelError) return undefined;
    throw error;
  }
}

/** An id that can be stored. */
function idOf(expression: CelExpression, values: Values): string | undefined {
  const value = evaluate(expression, values);
  const text = typeof value === "number" || typeof value === "bigint" ? String(value) : value;
  return typeof text === "string" && /^[\x21-\x7e]{1,256}$/.test(text) ? text : undefined;
}

function cut(id: string | undefined, before: string | undefined): string | undefined {
  return before === undefined ? id : id?.split(before, 1)[0];
}

/** Seconds since 1970, as a number or a text, or RFC 3339. */
function timeOf(value: unknown): number | undefined {
  const isNumber = typeof value === "number" || typeof value === "bigint";
  const seconds =
    isNumber || (typeof value === "string" && /^\d{1,11}(\.\d+)?$/.test(value)) ? Number(value) : undefined;
  const ms = seconds === undefined ? Date.parse(String(value)) : Math.floor(seconds * 1000);
  return ms >= 0 && ms < occurredAtMsMax ? ms : undefined;
}

function attributesOf({ attributes }: CallbackSpec, item: Json): MessageEvent["attributes"] {
  if (attributes === undefined) return {};
  const value = readOutput(attributes, { status: 200, headers: {}, bytes: Buffer.alloc(0), body: item });
  // Drops characters that PostgreSQL cannot store, such as U+0000.
  return (isJsonObject(value) && readJsonObject(value, new Problems())) || {};
}
