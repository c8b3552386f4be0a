import {
  checkDocumentSize,
  isJsonObject,
  type Json,
  type JsonObject,
  ObjectReader,
  textFormat,
  Violations,
} from "../../../../platform/document/index.ts";
import type { Permissions, RecordKind } from "../../../pack-records.ts";
import {
  type Pack,
  type PackEntry,
  type PackKind,
  type Requirement,
  recordKindsOf,
  type Slot,
  type SlotKind,
} from "./pack.ts";
import { placeholdersOf } from "./placeholders.ts";
import { isRange, isVersion } from "./versions.ts";

/** A parsed pack, or what is wrong with the document. */
export type ParsedPack =
  | { readonly pack: Pack; readonly violations?: undefined }
  | { readonly pack?: undefined; readonly violations: Violations["list"] };

const entriesMax = 100;
const slotsMax = 20;
const permissionsMax = 200;
/** The size of a pack as JSON besides its contents, which is what lists show: a page of 100 packs stays below 2 MiB. */
const headBytesMax = 16 * 1024;
const documentLimits = { bytesMax: 1024 * 1024, depthMax: 60, advice: "split it into several packs" };

const slug = "^[a-z0-9](-?[a-z0-9])*$";
const publisherFormat = textFormat(
  slug,
  40,
  "must be lower-case letters, digits and single hyphens (for example: acme)",
);
const nameFormat = textFormat(
  slug,
  60,
  "must be lower-case letters, digits and single hyphens (for example: refund-approval)",
);
const packFormat = textFormat(
  "^[a-z0-9](-?[a-z0-9])*/[a-z0-9](-?[a-z0-9])*$",
  101,
  "must be a publisher and a name (for example: acme/refund-approval)",
);
const keyFormat = textFormat(
  "^[a-z][a-z0-9_-]*$",
  40,
  "must start with a lower-case letter, followed by letters, digits, hyphens or underscores (for example: main)",
);
const anyText = textFormat("^[^\\u0000-\\u001f]+$", 200, "must be a text of 1 to 200 characters");
const titleFormat = textFormat("^[^\\u0000-\\u001f]+$", 100, "must be a text of 1 to 100 characters");

const kinds = Object.keys(recordKindsOf) as PackKind[];
const slotKinds: readonly SlotKind[] = ["connection", "pool", "environment", "text", "number"];

/** Parses the signed part of a pack. The owners of the records check the contents. */
export function parsePack(document: unknown): ParsedPack {
  const violations = new Violations();
  if (!checkDocumentSize(document, violations, documentLimits)) return { violations: violations.list };
  const pack = readPack(document as Json, violations);
  return pack === undefined || violations.list.length > 0 ? { violations: violations.list } : { pack };
}

function readPack(document: Json, violations: Violations): Pack | undefined {
  const reader = ObjectReader.open(document, "", violations, {
    known: [
      ...["pack", "publisher", "name", "kind", "version", "title", "description", "tags", "requires", "permissions"],
      ...["slots", "contents", "deprecated_by"],
    ],
    example: '{"pack": 1, "publisher": "acme", "name": "refund-approval"}',
    what: "a pack",
  });
  if (reader === undefined) return undefined;
  const head = JSON.stringify({ ...(document as JsonObject), contents: undefined });
  if (Buffer.byteLength(head) > headBytesMax) {
    const message = `must have at most ${headBytesMax / 1024} KiB as JSON besides contents: shorten its texts and lists`;
    violations.add("", "size", message);
  }
  if (reader.get("pack") !== 1) reader.refuse("pack", "const", "must be 1, the version of the format");
  const kind = reader.get("kind") as PackKind;
  if (!kinds.includes(kind)) {
    reader.refuse("kind", "choice", `must be ${kinds.join(", ").replace(/, (\w+)$/, " or $1")}`);
    return undefined;
  }
  const version = reader.required("version", '"1.0.0"');
  if (version !== undefined && !(typeof version === "string" && isVersion(version))) {
    reader.refuse("version", "semver", "must be a semantic version (for example: 1.2.0)");
  }
  const slots = readList(reader, "slots", { min: 0, max: slotsMax }, readSlot);
  refuseRepeated(
    reader,
    "slots",
    slots.map(({ name }) => name),
  );
  const contents = readList(reader, "contents", { min: 1, max: entriesMax }, (entry, path) =>
    readEntry(entry, path, violations, kind),
  );
  if (!reader.has("contents")) reader.refuse("contents", "required", "must have at least one record");
  refuseRepeated(
    reader,
    "contents",
    contents.map(({ key }) => key),
  );
  checkPlaceholders(contents, slots, violations);
  return {
    publisher: reader.text("publisher", publisherFormat) ?? "",
    name: reader.text("name", nameFormat) ?? "",
    kind,
    version: version as string,
    title: reader.text("title", titleFormat) ?? "",
    description: reader.prose("description", 2000),
    tags: reader.textList("tags", nameFormat, { min: 0, max: 10 }, '["refunds"]') ?? [],
    requires: readList(reader, "requires", { min: 0, max: 20 }, readRequirement),
    permissions: readPermissions(reader.get("permissions") ?? {}, violations),
    slots,
    contents,
    deprecatedBy: reader.has("deprecated_by") ? (reader.text("deprecated_by", packFormat) ?? "") : "",
  };

  function readSlot(value: Json, path: string): Slot | undefined {
    const known = ["name", "kind", "title", "description", "required", "default", "provider_key"];
    const example = '{"name": "pool", "kind": "pool", "title": "Pool of the support team"}';
    const slot = ObjectReader.open(value, path, violations, { known, example, what: "a slot" });
    if (slot === undefined) return undefined;
    const slotKind = slot.get("kind") as SlotKind;
    if (!slotKinds.includes(slotKind)) {
      slot.refuse("kind", "choice", `must be ${slotKinds.join(", ").replace(/, (\w+)$/, " or $1")}`);
    }
    const defaultValue = slot.get("default");
    const isTyped = slotKind === "number" ? typeof defaultValue === "number" : typeof defaultValue === "string";
    if (defaultValue !== undefined && (!isTyped || slotKind === "connection" || slotKind === "pool")) {
      slot.refuse("default", "type", "must be a text or a number like the slot; a connection and a pool have none");
    }
    return {
      name: slot.text("name", keyFormat) ?? "",
      kind: slotKind,
      title: slot.text("title", titleFormat) ?? "",
      description: slot.prose("description", 500),
      required: defaultValue === undefined,
      defaultValue: defaultValue as string | number | undefined,
      providerKey: slot.has("provider_key") ? (slot.text("provider_key", nameFormat) ?? "") : "",
    };
  }

  function readRequirement(value: Json, path: string): Requirement | undefined {
    const example = '{"pack": "switchyard/incident-messages", "version": "^1.0.0"}';
    const options = { known: ["pack", "version"], example, what: "a requirement" };
    const requirement = ObjectReader.open(value, path, violations, options);
    if (requirement === undefined) return undefined;
    const range = requirement.required("version", '"^1.0.0"');
    if (range !== undefined && !(typeof range === "string" && isRange(range))) {
      requirement.refuse("version", "range", "must be a range of versions (for example: ^1.2.0)");
    }
    return { pack: requirement.text("pack", packFormat) ?? "", version: range as string };
  }
}

function readEntry(value: Json, path: string, violations: Violations, kind: PackKind): PackEntry | undefined {
  const example = '{"record": "rule", "key": "vip", "content": {"name": "VIP first"}}';
  const options = { known: ["record", "key", "content"], example, what: "a record of a pack" };
  const entry = ObjectReader.open(value, path, violations, options);
  if (entry === undefined) return undefined;
  const record = entry.get("record") as RecordKind;
  const allowed = recordKindsOf[kind];
  if (!allowed.includes(record)) {
    const hint = Object.values(recordKindsOf).flat().includes(record)
      ? `, because the kind of the pack is ${kind}`
      : "";
    entry.refuse("record", "choice", `must be ${allowed.join(" or ")}${hint}`);
  }
  const content = entry.required("content", '{"name": "VIP first"}');
  if (content !== undefined && !isJsonObject(content)) {
    return entry.refuse("content", "type", "must be an object: the body of the request that creates the record");
  }
  return { key: entry.text("key", keyFormat) ?? "", record, content: (content ?? {}) as JsonObject };
}

function readPermissions(value: Json, violations: Violations): Permissions {
  const known = ["hosts", "scopes", "effects"];
  const example = '{"effects": ["notify:email"]}';
  const reader = ObjectReader.open(value, "permissions", violations, { known, example, what: "permissions" });
  const list = (name: string) =>
    reader?.textList(name, anyText, { min: 0, max: permissionsMax }, '["notify:email"]') ?? [];
  return { hosts: list("hosts"), scopes: list("scopes"), effects: list("effects") };
}

function readList<T>(
  reader: ObjectReader,
  name: string,
  size: { min: number; max: number },
  read: (value: Json, path: string) => T | undefined,
): readonly T[] {
  const elements = reader.list(name, size, "[]") ?? [];
  return elements.flatMap((element, at) => read(element, `${reader.pathOf(name)}[${at}]`) ?? []);
}

function refuseRepeated(reader: ObjectReader, name: string, keys: readonly string[]): void {
  const repeated = keys.find((key, at) => keys.indexOf(key) !== at);
  if (repeated !== undefined) reader.refuse(name, "unique", `must not contain ${repeated} twice`);
}

/** A placeholder must name a slot, or a record that is created earlier. */
function checkPlaceholders(contents: readonly PackEntry[], slots: readonly Slot[], violations: Violations): void {
  const known = { slot: new Set(slots.map(({ name }) => name)), record: new Set<string>() };
  for (const [at, { key, content }] of contents.entries()) {
    for (const { kind, name } of placeholdersOf(content)) {
      if (known[kind].has(name)) continue;
      const what = kind === "slot" ? "is not a slot of the pack" : "is not a record that comes earlier in the pack";
      violations.add(`contents[${at}].content`, "placeholder", `[[${kind}.${name}]] ${what}`);
    }
    known.record.add(key);
  }
}
