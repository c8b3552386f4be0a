import { type JsonObject, ObjectReader, shortName } from "../../../../../platform/document/index.ts";
import {
  type Complete,
  choice,
  constant,
  integer,
  type Member,
  object,
  optional,
  prose,
  required,
  text,
  texts,
  type ValueOf,
  type ValuesOf,
} from "../../../../../platform/json-schema/index.ts";
import type { CompileContext } from "./compile-context.ts";
import { formats } from "./limits.ts";
import { checkExclusive, define, header, pointer, ref } from "./members.ts";
import { suggest } from "./parse-template.ts";

/** A part of the text that a webhook signature covers. */
export type SignedPart =
  | { readonly kind: "literal"; readonly text: string }
  /** sorted_form: the names and values of a form body, sorted by name and joined without separators (Twilio). */
  | { readonly kind: "body" | "timestamp" | "url" | "sorted_form" }
  | { readonly kind: "header"; readonly name: string };

const partPattern = /\{([^}]*)\}/g;
const partNames = ["body", "timestamp", "url", "sorted_form"] as const;

function readOver(reader: ObjectReader): readonly SignedPart[] {
  const text = reader.has("over") ? reader.prose("over", 500) : "{body}";
  const parts: SignedPart[] = [];
  let end = 0;
  for (const match of text.matchAll(partPattern)) {
    if (match.index > end) parts.push({ kind: "literal", text: text.slice(end, match.index) });
    end = match.index + match[0].length;
    const name = match[1]!;
    if (name.startsWith("header.")) parts.push({ kind: "header", name: name.slice("header.".length).toLowerCase() });
    else if (partNames.includes(name as (typeof partNames)[number]))
      parts.push({ kind: name as (typeof partNames)[number] });
    else
      reader.refuse(
        "over",
        "placeholder",
        `{${shortName(name)}}: ${suggest(name, [...partNames, "header.x"], "parts")}`,
      );
  }
  if (end < text.length) parts.push({ kind: "literal", text: text.slice(end) });
  if (!parts.some(({ kind }) => kind === "body" || kind === "sorted_form")) {
    reader.refuse(
      "over",
      "required",
      "must contain {body} or {sorted_form}: otherwise the signature does not cover the body",
    );
  }
  return parts;
}

const over: Member<readonly SignedPart[]> = {
  ...{ name: "over", schema: { type: "string", maxLength: 500, default: "{body}" }, isRequired: false },
  read: readOver,
};

const toleranceS = integer("tolerance_s", { min: 1, max: 86_400 }, 300);

const signed = define(
  "a timestamp",
  '{"header": "x-timestamp", "unit": "epoch_s", "tolerance_s": 300}',
  {
    header: optional(header("header")),
    member: optional(text("member", formats.member)),
    unit: choice("unit", ["epoch_s", "epoch_ms", "rfc3339"], "epoch_s"),
    toleranceS,
  },
  ({ header = "", member, ...timestamp }, reader) => {
    checkExclusive(reader, "header", "member");
    // A header, or a member of a signature header of the form `t=…,v1=…`. */
    const from: { readonly header: string } | { readonly member: string } =
      member === undefined ? { header } : { member };
    return { ...timestamp, from };
  },
);

export type SignatureTimestamp = ValueOf<typeof signed>;

const signature = { over, timestamp: optional(object("timestamp", signed)) };

/** A timestamp and the signature that covers it need each other. */
function checkTimestamp<T extends ValuesOf<typeof signature>>(verify: T, reader: ObjectReader): T {
  const isSigned = verify.over.some(({ kind }) => kind === "timestamp");
  if (isSigned && !reader.has("timestamp"))
    reader.refuse("timestamp", "required", "is required because over contains {timestamp}");
  if (!isSigned && reader.has("timestamp")) {
    reader.refuse("over", "required", "must contain {timestamp}: otherwise the signature does not cover the timestamp");
  }
  return verify;
}

const bodyTimestamp = define("a timestamp", '{"pointer": "/timestamp"}', { pointer: pointer("pointer"), toleranceS });
const encoding = choice("encoding", ["hex", "base64"], "hex");
const prefix = prose("prefix", 50);

const what = "a verification";
const example = '{"kind": "hmac", "algorithm": "sha256", "header": "x-signature"}';

function defineKind<
  K extends string,
  M extends Readonly<Record<string, Member<unknown, CompileContext>>>,
  T = ValuesOf<M>,
>(kind: K, members: M, complete?: Complete<M, CompileContext, T>) {
  const kinds = { kind: constant("kind", kind, `must be ${kind}`) };
  return define(what, example, { ...kinds, ...members }, (values, reader, context) => ({
    kind,
    ...(complete?.(values, reader, context) ?? (values as T)),
  }));
}

const kinds = {
  hmac: defineKind(
    "hmac",
    {
      algorithm: choice("algorithm", ["sha256", "sha1", "sha512"], "sha256"),
      encoding,
      header: header("header"),
      prefix,
      /** The member with the signature, for headers of the form `t=…,v1=…` (Stripe). */
      member: optional(text("member", formats.member)),
      ...signature,
      /** How the bytes of the key are written in the secret. */
      key: choice("key", ["text", "base64", "hex"], "text"),
    },
    checkTimestamp,
  ),
  ed25519: defineKind("ed25519", { header: header("header"), encoding, ...signature }, checkTimestamp),
  /** ECDSA with SHA-256; the secret is the public key in DER (SPKI), base64. */
  ecdsa: defineKind("ecdsa", { header: header("header"), ...signature }, checkTimestamp),
  /** An HMAC over members of the body (Mailgun), as pointers. It does not cover the rest of the body. */
  body_hmac: defineKind(
    "body_hmac",
    {
      signature: pointer("signature"),
      over: texts("over", formats.pointer, { min: 1, max: 10 }, '["/timestamp", "/token"]'),
      timestamp: required(object("timestamp", bodyTimestamp), '{"pointer": "/timestamp"}'),
    },
    (verify, reader) => {
      const { over, timestamp } = verify;
      if (over.length > 0 && !over.includes(timestamp.pointer)) {
        const message = "must contain the pointer of the timestamp: otherwise the signature does not cover it";
        reader.refuse("over", "required", message);
      }
      return verify;
    },
  ),
  token: defineKind(
    "token",
    { header: optional(header("header")), query: optional(text("query", formats.param)), prefix },
    ({ header, query = "", prefix }, reader) => {
      checkExclusive(reader, "header", "query");
      const place = header === undefined ? ("query" as const) : ("header" as const);
      return { in: place, name: header ?? query, prefix };
    },
  ),
  /** The secret is a member of the body. */
  body_token: defineKind("body_token", { pointer: pointer("pointer") }),
  /** Only the secret URL protects the intake. */
  none: defineKind("none", { reason: { ...prose("reason", 500), isRequired: true } }, (verify, reader) => {
    if (verify.reason === "") reader.refuse("reason", "required", "is required: say why deliveries cannot be verified");
    return verify;
  }),
};

type Kind = keyof typeof kinds;
const kindNames = Object.keys(kinds) as Kind[];

/** How a webhook delivery proves its origin. */
export type VerifySpec = { [K in Kind]: ValueOf<(typeof kinds)[K]> }[Kind];

export const verify: Member<VerifySpec, CompileContext> = {
  ...{ name: "verify", schema: ref("verify"), isRequired: true },
  read(reader, context) {
    const [value, path] = [reader.get("verify"), reader.pathOf("verify")];
    const kind = (value as { kind?: unknown } | null | undefined)?.kind as Kind;
    if (kindNames.includes(kind)) return kinds[kind].read(value, path, context) ?? kinds.none.readEmpty(context);
    const known = ["kind", ...new Set(kindNames.flatMap((each) => kinds[each].known))];
    const opened = ObjectReader.open(value, path, context.violations, { known, example, what });
    opened?.refuse("kind", "choice", suggest(kind, kindNames, "kinds"));
    return kinds.none.readEmpty(context);
  },
};

/** The JSON Schema of a verification. */
export const verifySchema: JsonObject = { oneOf: kindNames.map((each) => kinds[each].schema) };
