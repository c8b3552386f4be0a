import {
  checkDocumentSize,
  type Json,
  type JsonObject,
  type ObjectReader,
  Violations,
} from "../../../../platform/document/index.ts";
import { type Pack, type PackKind, packDefinition, readKind, recordKindsOf } from "./pack.ts";
import { placeholdersOf } from "./placeholders.ts";

/** A parsed pack, or what is wrong with the document. */
export type ParsedPack =
  | { readonly pack: Pack; readonly violations?: undefined }
  | { readonly pack?: undefined; readonly violations: Violations["list"] };

/** The size of a pack as JSON besides its contents, which is what lists show: a page of 100 packs stays below 2 MiB. */
const headBytesMax = 16 * 1024;
const documentLimits = { bytesMax: 1024 * 1024, depthMax: 60, advice: "split it into several packs" };
const kinds = Object.keys(recordKindsOf) as PackKind[];

/** Parses the signed part of a pack. The owners of the records check the contents. */
export function parsePack(document: unknown): ParsedPack {
  const violations = new Violations();
  if (!checkDocumentSize(document, violations, documentLimits)) return { violations: violations.list };
  const pack = readPack(document as Json, violations);
  return pack === undefined || violations.list.length > 0 ? { violations: violations.list } : { pack };
}

function readPack(document: Json, violations: Violations): Pack | undefined {
  const reader = packDefinition.open(document, "", { violations });
  if (reader === undefined) return undefined;
  const head = JSON.stringify({ ...(document as JsonObject), contents: undefined });
  if (Buffer.byteLength(head) > headBytesMax) {
    const message = `must have at most ${headBytesMax / 1024} KiB as JSON besides contents: shorten its texts and lists`;
    violations.add("", "size", message);
  }
  if (reader.get("pack") !== 1) reader.refuse("pack", "const", "must be 1, the version of the format");
  const kind = readKind(reader, kinds);
  if (kind === undefined) return undefined;
  const pack = packDefinition.readMembers(reader, { violations, kind });
  const slotNames = pack.slots.map(({ name }) => name);
  refuseRepeated(reader, "slots", slotNames);
  const keys = pack.contents.map(({ key }) => key);
  refuseRepeated(reader, "contents", keys);
  checkPlaceholders(pack, violations);
  return pack;
}

function refuseRepeated(reader: ObjectReader, name: string, keys: readonly string[]): void {
  const repeated = keys.find((key, at) => keys.indexOf(key) !== at);
  if (repeated !== undefined) reader.refuse(name, "unique", `must not contain ${repeated} twice`);
}

/** A placeholder must name a slot, or a record that is created earlier. */
function checkPlaceholders({ contents, slots }: Pack, violations: Violations): void {
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
