import { CelError, type CelExpression, evaluateCondition } from "../../../../platform/cel/index.ts";
import { isJsonObject, isTooDeep, type Json, type JsonObject } from "../../../../platform/document/index.ts";
import { parseForm } from "../../../../platform/text/index.ts";
import { readOutput, type Trigger, valueAt } from "../../manifests/index.ts";
import type { NewEvent } from "../domain/event.ts";
import type { Delivery, ReadDelivery } from "./verification.ts";

/** The reply to a challenge. */
export interface Reply {
  readonly contentType: "text/plain; charset=utf-8" | "application/json";
  readonly body: string;
}

/** A batch with more items is malformed. */
const itemsMax = 1000;
const levelsMax = 64;
const replyLengthMax = 4096;

/** Parses the query and the body of a delivery. Neither is verified yet. */
export function readDelivery(delivery: Delivery): ReadDelivery {
  const { url, rawBody, headers } = delivery;
  const query = Object.fromEntries(URL.parse(url)?.searchParams ?? []);
  return { ...delivery, query, body: parseBody(rawBody, headers["content-type"] ?? "") };
}

function parseBody(rawBody: Buffer, contentType: string): Json {
  if (rawBody.length === 0) return null;
  const text = rawBody.toString("utf8");
  if (contentType.startsWith("application/x-www-form-urlencoded")) return formMembers(text);
  return parseJson(text) ?? null;
}

/** Undefined for a text that is not JSON, or is nested too deep to be read safely. */
function parseJson(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isTooDeep(value, levelsMax) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** Some providers send JSON as the only member `payload` of a form. */
function formMembers(text: string): Json {
  const pairs = parseForm(text);
  if (pairs === undefined) return null;
  const members = Object.fromEntries(pairs);
  const names = Object.keys(members);
  if (names.length !== 1 || names[0] !== "payload") return members;
  return parseJson(members.payload!) ?? members;
}

type Values = Readonly<Record<"headers" | "query" | "body" | "item" | "input", unknown>>;

function valuesOf({ headers, query, body }: ReadDelivery, input: JsonObject, item: Json): Values {
  return { headers, query, body, item, input };
}

/** A condition about a value that a delivery lacks does not hold. */
function holds(condition: CelExpression | undefined, values: Values): boolean {
  if (condition === undefined) return true;
  try {
    return evaluateCondition(condition, values);
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

/** The reply if a delivery is a challenge; undefined if it is not. */
export function challengeReply(
  { challenge }: Pick<Trigger, "challenge">,
  delivery: ReadDelivery,
  input: JsonObject,
): Reply | undefined {
  if (challenge === undefined || !holds(challenge.when, valuesOf(delivery, input, null))) return undefined;
  const { respond } = challenge;
  switch (respond.kind) {
    case "text":
      return textReply(valueAt(delivery.body, respond.pointer));
    case "query":
      return textReply(delivery.query[respond.name]);
    case "header":
      return textReply(delivery.headers[respond.name]);
    case "json": {
      const members = respond.members.map(([name, pointer]) => [name, valueAt(delivery.body, pointer) ?? null]);
      const body = JSON.stringify(Object.fromEntries(members));
      return body.length > replyLengthMax ? undefined : { contentType: "application/json", body };
    }
  }
}

function textReply(value: Json | undefined): Reply | undefined {
  if (typeof value !== "string" && typeof value !== "number") return undefined;
  const body = String(value);
  return body.length > replyLengthMax ? undefined : { contentType: "text/plain; charset=utf-8", body };
}

/** The events of a verified delivery: none if the filter matches nothing; undefined if the delivery cannot be read. */
export function eventsOf(trigger: Trigger, delivery: ReadDelivery, input: JsonObject): readonly NewEvent[] | undefined {
  const { items: pointer } = trigger;
  if (pointer === undefined) return eventOf(trigger, delivery, input, delivery.body);
  const items = valueAt(delivery.body, pointer);
  if (!Array.isArray(items) || items.length > itemsMax) return undefined;
  return (items as readonly Json[]).flatMap((item) => eventOf(trigger, delivery, input, item));
}

/** The event of a polled item: none if the filter does not match. */
export function eventOfItem(trigger: Trigger, item: Json, input: JsonObject): readonly NewEvent[] {
  const delivery = { method: "GET", headers: {}, rawBody: Buffer.alloc(0), url: "", query: {}, body: item } as const;
  return eventOf(trigger, delivery, input, item);
}

function eventOf(trigger: Trigger, delivery: ReadDelivery, input: JsonObject, item: Json): readonly NewEvent[] {
  const values = valuesOf(delivery, input, item);
  const matching =
    trigger.events.length === 0 ? { type: trigger.name } : trigger.events.find(({ when }) => holds(when, values));
  if (matching === undefined) return [];
  const key = trigger.dedup && keyOf(trigger.dedup, values);
  return [{ type: matching.type, key, payload: payloadOf(trigger, item, delivery.headers) }];
}

/** The payload that a trigger makes of a body or item. */
function payloadOf(
  { output }: Pick<Trigger, "output">,
  item: Json,
  headers: Readonly<Record<string, string | undefined>>,
): Json {
  if (output === undefined) return item;
  const present = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  const bytes = Buffer.alloc(0);
  return readOutput(output, { status: 200, headers: Object.fromEntries(present), bytes, body: item }) ?? null;
}

/** The key of an event; undefined if it has none, so that it is never taken for a repeated one. */
function keyOf(dedup: CelExpression, values: Values): string | undefined {
  try {
    const key = dedup.evaluate(values);
    if (key === null || key === undefined || key === "") return undefined;
    return isJsonObject(key) || Array.isArray(key) ? JSON.stringify(key) : String(key);
  } catch (error) {
    if (error instanceof CelError) return undefined;
    throw error;
  }
}
