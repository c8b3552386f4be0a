import { isJsonObject, type JsonObject, type ObjectReader, textFormat } from "../../../../platform/document/index.ts";
import {
  defineObject,
  type Member,
  objectOrEmpty,
  objects,
  optionalText,
  optionalTexts,
  prose,
  type ReadContext,
  text,
  type ValueOf,
} from "../../../../platform/json-schema/index.ts";
import type { RecordKind } from "../../../pack-records.ts";
import { isRange, isVersion } from "./versions.ts";

/** The purpose of a pack and of all its records. */
export type PackKind = "connector" | "workflow" | "notification" | "rules";

const slotKinds = ["connection", "pool", "environment", "text", "number"] as const;
export type SlotKind = (typeof slotKinds)[number];

/** The type of the signed statement. */
export const packStatementType = "application/vnd.switchyard.pack.v1+json";

/** The kinds of records that each kind of pack contains. */
export const recordKindsOf: Readonly<Record<PackKind, readonly RecordKind[]>> = {
  connector: ["manifest"],
  workflow: ["workflow_definition", "workflow_trigger"],
  notification: ["layout", "notification_workflow"],
  rules: ["pool", "rule"],
};

/** The kind is read first, because it decides which records a pack contains. */
interface PackContext extends ReadContext {
  readonly kind: PackKind;
}

const slug = "[a-z0-9](-?[a-z0-9])*";
const slugFormat = (lengthMax: number, example: string) =>
  textFormat(`^${slug}$`, lengthMax, `must be lower-case letters, digits and single hyphens (for example: ${example})`);
const nameFormat = slugFormat(60, "refund-approval");
const packFormat = textFormat(
  `^${slug}/${slug}$`,
  101,
  "must be a publisher and a name (for example: acme/refund-approval)",
);
const keyFormat = textFormat(
  "^[a-z][a-z0-9_-]*$",
  40,
  "must start with a lower-case letter, followed by letters, digits, hyphens or underscores (for example: main)",
);
const lineFormat = (lengthMax: number) =>
  textFormat("^[^\\u0000-\\u001f]+$", lengthMax, `must be a text of 1 to ${lengthMax} characters`);

/** A member with a reader of its own. */
function member<T>(name: string, read: (reader: ObjectReader, context: PackContext) => T): Member<T, PackContext> {
  return { name, schema: {}, isRequired: false, read };
}

/** A required text that a function accepts. */
const accepted = (name: string, example: string, rule: string, isValid: (text: string) => boolean, message: string) =>
  member(name, (reader) => {
    const value = reader.required(name, `"${example}"`);
    if (value !== undefined && !(typeof value === "string" && isValid(value))) reader.refuse(name, rule, message);
    return value as string;
  });

/** A list of different texts; empty if it is missing. */
function texts(name: string, max: number, format: typeof nameFormat, example: string) {
  const { read } = optionalTexts(name, format, { min: 0, max }, example);
  return member(name, (reader, context) => read(reader, context) ?? []);
}

/** Reads the kind of a pack or slot; undefined and reported if it is none of these. */
export function readKind<T extends string>(reader: ObjectReader, kinds: readonly T[]): T | undefined {
  const kind = kinds.find((each) => each === reader.get("kind"));
  return kind ?? reader.refuse("kind", "choice", `must be ${kinds.join(", ").replace(/, (\w+)$/, " or $1")}`);
}

const slot = defineObject(
  "a slot",
  '{"name": "pool", "kind": "pool", "title": "Pool of the support team"}',
  {
    name: text("name", keyFormat),
    kind: member("kind", (reader) => readKind(reader, slotKinds) as SlotKind),
    title: text("title", lineFormat(100)),
    description: prose("description", 500),
    /** Whether a value must be given. A document may say so, but the default decides. */
    required: member("required", () => true),
    defaultValue: member("default", (reader) => reader.get("default") as string | number | undefined),
    /** The provider of a connection; empty for any. */
    providerKey: optionalText("provider_key", nameFormat),
  },
  (values, reader) => {
    const { kind, defaultValue } = values;
    const isTyped = kind === "number" ? typeof defaultValue === "number" : typeof defaultValue === "string";
    if (defaultValue !== undefined && (!isTyped || kind === "connection" || kind === "pool")) {
      reader.refuse("default", "type", "must be a text or a number like the slot; a connection and a pool have none");
    }
    return { ...values, required: defaultValue === undefined };
  },
);

/** A value that the installer provides. */
export type Slot = ValueOf<typeof slot>;

const requirement = defineObject("a requirement", '{"pack": "switchyard/incident-messages", "version": "^1.0.0"}', {
  /** publisher/name */
  pack: text("pack", packFormat),
  version: accepted("version", "^1.0.0", "range", isRange, "must be a range of versions (for example: ^1.2.0)"),
});

const entry = defineObject("a record of a pack", '{"record": "rule", "key": "vip", "content": {"name": "VIP first"}}', {
  record: member("record", (reader, { kind }) => {
    const record = reader.get("record") as RecordKind;
    const allowed = recordKindsOf[kind];
    if (!allowed.includes(record)) {
      const isOfOtherKind = Object.values(recordKindsOf).flat().includes(record);
      const hint = isOfOtherKind ? `, because the kind of the pack is ${kind}` : "";
      reader.refuse("record", "choice", `must be ${allowed.join(" or ")}${hint}`);
    }
    return record;
  }),
  /** Identifies the record in all versions of the pack. */
  key: text("key", keyFormat),
  /** The body of the request that creates the record, with placeholders. */
  content: member("content", (reader): JsonObject => {
    const content = reader.required("content", '{"name": "VIP first"}');
    if (content === undefined || isJsonObject(content)) return content ?? {};
    return reader.refuse("content", "type", "must be an object: the body of the request that creates the record") ?? {};
  }),
});

/** A record of a pack. */
export type PackEntry = ValueOf<typeof entry>;

const permissionsMax = 200;
const permission = (name: string) => texts(name, permissionsMax, lineFormat(200), '["notify:email"]');
const permissions = defineObject("permissions", '{"effects": ["notify:email"]}', {
  hosts: permission("hosts"),
  scopes: permission("scopes"),
  effects: permission("effects"),
});

/** The language of packs. */
export const packDefinition = defineObject(
  "a pack",
  '{"pack": 1, "publisher": "acme", "name": "refund-approval"}',
  {
    /** The version of the format, which is checked first. */
    format: member("pack", () => undefined),
    publisher: text("publisher", slugFormat(40, "acme")),
    name: text("name", nameFormat),
    kind: member("kind", (_reader, { kind }) => kind),
    version: accepted("version", "1.0.0", "semver", isVersion, "must be a semantic version (for example: 1.2.0)"),
    title: text("title", lineFormat(100)),
    description: prose("description", 2000),
    tags: texts("tags", 10, nameFormat, '["refunds"]'),
    /** Packs that must be installed before. */
    requires: objects("requires", requirement, { min: 0, max: 20 }, "[]"),
    permissions: objectOrEmpty("permissions", permissions),
    slots: objects("slots", slot, { min: 0, max: 20 }, "[]"),
    contents: objects("contents", entry, { min: 1, max: 100 }, "[]"),
    /** The pack that replaces this one; empty if there is none. */
    deprecatedBy: optionalText("deprecated_by", packFormat),
  },
  ({ format: _, ...pack }, reader, _context: PackContext) => {
    if (!reader.has("contents")) reader.refuse("contents", "required", "must have at least one record");
    return pack;
  },
);

/** A pack: the part that is signed. */
export type Pack = ValueOf<typeof packDefinition>;

/** A pack with its document and signature. */
export interface SignedPack {
  readonly pack: Pack;
  /** The signed part as it was written. */
  readonly document: JsonObject;
  readonly digest: string;
  readonly signature: string;
  readonly keyId: string;
}

export function packName({ publisher, name }: Pick<Pack, "publisher" | "name">): string {
  return `${publisher}/${name}`;
}
