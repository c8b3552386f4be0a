import { timingSafeEqual } from "node:crypto";
import { webhookHeaders } from "../../../platform/crypto/index.ts";
import { readJsonObject } from "../../../platform/protojson/formats/struct.ts";
import { Problems } from "../../../platform/protojson/index.ts";
import type { OpenConnection } from "../../connectors/index.ts";
import type { CallbackEvents, ProviderCallback, ProviderEvent, ProviderEventKind } from "./domain/provider.ts";

/** The maximum difference between a callback's timestamp and the local clock. Older callbacks may be replayed. */
const toleranceMs = 5 * 60_000;
const eventsMax = 1000;
const attributesBytesMax = 4096;
const occurredAtMsMin = 0;
const occurredAtMsMax = Date.UTC(2100, 0);

const kinds: ReadonlySet<string> = new Set<ProviderEventKind>([
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
]);

/** Authenticates and parses a Standard Webhooks callback, signed with the connection's `callback_secret`. */
export function signedCallback(
  { credentials }: OpenConnection,
  { headers, rawBody }: ProviderCallback,
  nowMs: number,
): CallbackEvents {
  const secret = credentials.callback_secret ?? "";
  const timestampS = Number(headers["webhook-timestamp"]);
  const id = headers["webhook-id"] ?? "";
  if (secret === "" || id === "" || !Number.isSafeInteger(timestampS)) return "refused";
  if (Math.abs(nowMs - timestampS * 1000) > toleranceMs) return "refused";
  const expected = webhookHeaders({ id, timestampS, body: rawBody.toString("utf8") }, [secret])["webhook-signature"]!;
  const given = (headers["webhook-signature"] ?? "").split(" ");
  if (!given.some((signature) => isEqualInConstantTime(signature, expected))) return "refused";
  return eventsIn(rawBody) ?? "malformed";
}

/** Compares two texts in constant time. */
export function isEqualInConstantTime(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function eventsIn(rawBody: Buffer): ProviderEvent[] | undefined {
  let events: unknown;
  try {
    events = (JSON.parse(rawBody.toString("utf8")) as { events?: unknown } | null)?.events;
  } catch {
    return undefined;
  }
  if (!Array.isArray(events) || events.length > eventsMax) return undefined;
  const read = events.map(eventOf);
  return read.every((event) => event !== undefined) ? read : undefined;
}

function eventOf(value: unknown): ProviderEvent | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { message_id, event_id, kind, occurred_at, severity, machine_generated, attributes } = value as Record<
    string,
    unknown
  >;
  const occurredAtMs = typeof occurred_at === "string" ? Date.parse(occurred_at) : Number.NaN;
  if (!isProviderId(message_id) || !isProviderId(event_id)) return undefined;
  if (!(occurredAtMs >= occurredAtMsMin && occurredAtMs < occurredAtMsMax)) return undefined;
  if (typeof kind !== "string" || !kinds.has(kind)) return undefined;
  const validAttributes = attributesOf(attributes);
  if (validAttributes === undefined) return undefined;
  return {
    providerMessageId: message_id,
    providerEventId: event_id,
    kind: kind as ProviderEventKind,
    occurredAtMs,
    severity: severity === "hard" || severity === "soft" ? severity : "",
    machineGenerated: machine_generated === true,
    attributes: validAttributes,
  };
}

/** Whether a value is a provider id that can be stored. */
export function isProviderId(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]{1,256}$/.test(value);
}

/**
 * The attributes of an event; undefined when they cannot be stored: U+0000, lone surrogates or too many levels.
 * Attributes that are only too large are dropped, so that the event itself is still stored.
 */
function attributesOf(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  const attributes = readJsonObject(value, new Problems());
  if (attributes === undefined) return undefined;
  return Buffer.byteLength(JSON.stringify(attributes)) <= attributesBytesMax ? attributes : {};
}
