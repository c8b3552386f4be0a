import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import { digestOfStatement } from "../../../platform/crypto/index.ts";
import { notFound } from "../../../platform/db/index.ts";
import type { Json, JsonObject } from "../../../platform/document/index.ts";
import type { RecordKind, ReferenceKind } from "../../pack-records.ts";
import { type Pack, type PackKind, recordKindsOf, type SlotKind } from "./domain/pack.ts";
import { unionOf } from "./domain/permissions.ts";
import { readSignedPack, writeSignedPack } from "./pack-signature.ts";
import type { RecordOwners } from "./record-owners.ts";

/** Records to export, and the pack's name. */
interface ExportRequest extends Pick<Pack, "publisher" | "name" | "version" | "title" | "description"> {
  readonly records: readonly { readonly kind: RecordKind; readonly record: string }[];
}

/** Creates the function that makes an unsigned pack from records of a tenant. */
export function createExporter(owners: RecordOwners) {
  return async (context: Context, { records, ...head }: ExportRequest): Promise<JsonObject> => {
    const kind = kindOf(records.map((each) => each.kind));
    const slots = new ExportedSlots();
    const keys = new Map<string, string>();
    const contents: Json[] = [];
    const permissions = [];
    for (const { kind: recordKind, record } of records) {
      const owner = owners.ownerOf(recordKind);
      const recordId = await owner.find(context, record);
      const found = recordId === undefined ? undefined : await owner.read(context, recordId);
      if (recordId === undefined || found === undefined) throw notFound(`${recordKind.replace("_", " ")} ${record}`);
      const content = owner.mapReferences(found.content, (reference, value, providerKey = "") => {
        const exported = keys.get(value);
        return exported === undefined ? slots.placeholderFor(reference, value, providerKey) : `[[record.${exported}]]`;
      });
      const key = freeKey(recordKind, [...keys.values()]);
      keys.set(recordId, key);
      permissions.push(owner.permissionsOf(found.content));
      contents.push({ record: recordKind, key, content });
    }
    const { publisher, name, version, title, description } = head;
    const document = {
      ...{ pack: 1, publisher, name, kind, version, title, description },
      ...{ permissions: { ...unionOf(permissions) }, slots: slots.list, contents },
    };
    const { document: checked } = readSignedPack(document);
    return writeSignedPack({ document: checked, digest: digestOfStatement(checked), signature: "", keyId: "" });
  };
}

/** The slots of an exported pack: one for each pool, environment and connection that its records refer to. */
class ExportedSlots {
  readonly list: { name: string; kind: SlotKind; title: string; provider_key?: string }[] = [];
  readonly #names = new Map<string, string>();

  placeholderFor(kind: ReferenceKind, value: string, providerKey: string): string {
    if (kind === "layout" || kind === "workflow_definition" || kind === "recipient") {
      const hint =
        kind === "recipient" ? "use a condition instead of a recipient" : "export it before the records that use it";
      const what = kind.replace("_", " ");
      throw fail("FAILED_PRECONDITION", { public: `A record refers to the ${what} ${value}: ${hint}.` });
    }
    const known = this.#names.get(`${kind}|${value}`);
    if (known !== undefined) return `[[slot.${known}]]`;
    const count = this.list.filter((slot) => slot.kind === kind).length;
    const name = count === 0 ? kind : `${kind}_${count + 1}`;
    const title = `${kind[0]!.toUpperCase()}${kind.slice(1)}${count === 0 ? "" : ` ${count + 1}`}`;
    this.list.push({ name, kind, title, ...(providerKey !== "" && { provider_key: providerKey }) });
    this.#names.set(`${kind}|${value}`, name);
    return `[[slot.${name}]]`;
  }
}

/** The kind of pack that contains these kinds of records. */
function kindOf(kinds: readonly RecordKind[]): PackKind {
  for (const [packKind, allowed] of Object.entries(recordKindsOf)) {
    if (kinds.every((kind) => allowed.includes(kind))) return packKind as PackKind;
  }
  throw fail("INVALID_ARGUMENT", {
    public: "The records belong to different kinds of packs: export them as several packs.",
    violations: [{ field: "records", rule: "kind", message: "must all belong to the same kind of pack" }],
  });
}

function freeKey(kind: RecordKind, taken: readonly string[]): string {
  const isWorkflow = kind === "workflow_definition" || kind === "notification_workflow";
  const stem = isWorkflow ? "workflow" : kind === "workflow_trigger" ? "trigger" : kind;
  for (let number = 1; ; number++) {
    const key = number === 1 ? stem : `${stem}-${number}`;
    if (!taken.includes(key)) return key;
  }
}
