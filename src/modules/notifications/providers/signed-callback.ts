import { timingSafeEqual } from "node:crypto";
import { webhookHeaders } from "../../../platform/crypto/index.ts";
import { readJsonObject } from "../../../platform/protojson/formats/struct.ts";
import { Problems } from "../../../platform/protojson/index.ts";
import type { OpenConnection } from "../../connectors/index.ts";
import type { CallbackReading, ProviderCallback, ProviderEvent, ProviderEventKind } from "./domain/provider.ts";

/** How far the clock of a message may be from ours: an older one may be a message that somebody kept. */
const toleranceMs = 5 * 60_000;
const eventsMax = 1000;
const attributesBytesMax = 4096;
const momentsFromMs = 0;
const momentsUntilMs = Date.UTC(2100, 0);

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

/** Reads a callback that is signed as Standard Webhooks say, with the connection's credential `callback_secret`. */
export function signedCallback(
  { credentials }: OpenConnection,
  { headers, rawBody }: ProviderCallback,
  nowMs: number,
): CallbackReading {
  const secret = credentials.callback_secret ?? "";
  const timestampS = Number(headers["webhook-timestamp"]);
  const id = headers["webhook-id"] ?? "";
  if (secret === "" || id === "" || !Number.isSafeInteger(timestampS)) return "refused";
  if (Math.abs(nowMs - timestampS * 1000) > toleranceMs) return "refused";
  const expected = webhookHeaders({ id, timestampS, body: rawBody.toString("utf8") }, [secret])["webhook-signature"]!;
  const given = (headers["webhook-signature"] ?? "").split(" ");
  if (!given.some((signature) => equalTexts(signature, expected))) return "refused";
  return eventsIn(rawBody) ?? "malformed";
}

/** Compares in a time that tells nothing about where two texts differ. */
export function equalTexts(one: string, other: string): boolean {
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
  if (!isName(message_id) || !isName(event_id)) return undefined;
  if (!(occurredAtMs >= momentsFromMs && occurredAtMs < momentsUntilMs)) return undefined;
  if (typeof kind !== "string" || !kinds.has(kind)) return undefined;
  const said = attributesOf(attributes);
  if (said === undefined) return undefined;
  return {
    providerMessageId: message_id,
    providerEventId: event_id,
    kind: kind as ProviderEventKind,
    occurredAtMs,
    severity: severity === "hard" || severity === "soft" ? severity : "",
    machineGenerated: machine_generated === true,
    attributes: said,
  };
}

/** Whether it is a name as providers give them, which can be kept and found again. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && /^[\x21-\x7e]{1,256}$/.test(value);
}

/**
 * What is said about an event; undefined when it cannot be kept: U+0000, halves of surrogate pairs, too many levels.
 * What is merely too large is left out: what happened to the message counts, not what is said about it.
 */
function attributesOf(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  const attributes = readJsonObject(value, new Problems());
  if (attributes === undefined) return undefined;
  return Buffer.byteLength(JSON.stringify(attributes)) <= attributesBytesMax ? attributes : {};
}
