import { isJsonObject, type Json } from "../../../../../platform/document/index.ts";
import { encodePart, secretLengthMin } from "../../../../../platform/text/index.ts";
import type { FieldSpec } from "../language/fields.ts";
import type { AccountValues, Provider } from "../provider.ts";

/** Replacement for secrets. */
export const redacted = "[redacted]";

/** A shorter secret has too few characters in base64 that do not depend on its neighbours. */
const base64LengthMin = 6;

/** Replaces secrets in texts and JSON values. */
export interface Redactor {
  text(text: string): string;
  /** Also replaces secrets in the names of members. */
  value<T extends Json>(value: T): T;
}

/** Names of values that are not secret although no field declares them. */
const publicNames = ["token_type", "scope", "expires_at", "client_id"];

/** The secret values of a connection: credentials and provider config, without values that the manifest declares public. */
export function secretsOf(provider: Provider, { mode, credentials, config }: AccountValues): readonly string[] {
  const auth = provider.auth(mode);
  const secrets = new Set([
    ...secretValues(credentials, auth?.fields ?? []),
    ...secretValues(config, auth?.mode === "oauth2" ? auth.config : []),
  ]);
  return [...secrets].filter((each) => each.length >= secretLengthMin);
}

function secretValues(values: Readonly<Record<string, string>>, fields: readonly FieldSpec[]): string[] {
  const isPublic = new Set([...publicNames, ...fields.filter((each) => !each.secret).map((each) => each.name)]);
  return Object.entries(values).flatMap(([name, value]) => (isPublic.has(name) ? [] : [value]));
}

/**
 * Creates a redactor of secrets: as they are, URL-encoded, as form values, in hex, in base64 at any offset, and escaped as in
 * JSON, each in upper and lower case.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const variants = new Set<string>();
  for (const secret of secrets) {
    if (secret.length < secretLengthMin) continue;
    for (const each of variantsOf(secret)) if (each.length >= secretLengthMin) variants.add(each);
  }
  if (variants.size === 0) return { text: (text) => text, value: (value) => value };
  // Longer variants first: a variant can contain another one.
  const sorted = [...variants].sort((one, other) => other.length - one.length);
  const pattern = new RegExp(sorted.map(escapePattern).join("|"), "gi");
  const text = (each: string) => each.replace(pattern, redacted);
  const value = (each: Json): Json => {
    if (typeof each === "string") return text(each);
    if (Array.isArray(each)) return (each as readonly Json[]).map(value);
    if (typeof each === "number") return isNumberSecret(each, pattern) ? redacted : each;
    if (!isJsonObject(each)) return each;
    return Object.fromEntries(Object.entries(each).map(([name, member]) => [text(name), value(member)]));
  };
  return { text, value: value as Redactor["value"] };
}

function isNumberSecret(value: number, pattern: RegExp): boolean {
  pattern.lastIndex = 0;
  return pattern.test(String(value));
}

function* variantsOf(secret: string): Generator<string> {
  yield secret;
  const wellFormed = secret.toWellFormed();
  const encoded = encodePart(wellFormed);
  yield encoded;
  yield encodeURIComponent(wellFormed);
  yield encodeURI(wellFormed);
  yield encodeURIComponent(wellFormed).replaceAll("%20", "+");
  yield JSON.stringify(secret).slice(1, -1);
  yield JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1);
  const bytes = Buffer.from(secret);
  yield bytes.toString("hex");
  if (bytes.length >= base64LengthMin) yield* base64VariantsOf(bytes);
}

/** The characters of base64 that do not depend on what precedes or follows the secret, for each of the three offsets. */
function* base64VariantsOf(bytes: Buffer): Generator<string> {
  for (const offset of [0, 1, 2]) {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const start = [0, 2, 3][offset]!;
    const end = Math.floor((padded.length * 8) / 6);
    const core = padded.toString("base64").slice(start, end);
    yield core;
    yield core.replaceAll("+", "-").replaceAll("/", "_");
  }
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
