import type { DescMessage } from "@bufbuild/protobuf";
import type { Operation } from "../../definitions/index.ts";

/**
 * Where the values of a field come from: the path of a list and a field of its items, `/api/pools#id`. The reference reads
 * that list as the caller, so that examples have the caller's own records.
 */
export type RecordSlot = `${string}#${string}`;

/** The slots of fields. */
export type RecordSlots = ReturnType<typeof createRecordSlots>;

/** Names that do not say which record they mean without a path. */
const plainNames: ReadonlySet<string> = new Set(["id", "key", "name", "version"]);

/** Names of records that differ from the name of their list. */
const otherNames: ReadonlyMap<string, RecordSlot> = new Map([
  ["definition", "/api/workflow-definitions#key"],
  ["run_id", "/api/workflow-runs#id"],
]);

/** Finds the slots in the lists of the API. */
export function createRecordSlots(operations: readonly Operation[]) {
  const lists = new Map<string, DescMessage>();
  const byRecord = new Map<DescMessage, RecordSlot>();
  const byName = new Map<string, RecordSlot>(otherNames);
  for (const { paging, bindings } of operations) {
    const record = paging?.items.message;
    if (record === undefined || bindings[0]!.verb !== "GET") continue;
    const { path } = bindings[0]!;
    lists.set(path, record);
    const field = ["id", "key"].find((name) => hasField(record, name));
    if (field === undefined || byRecord.has(record)) continue;
    byRecord.set(record, `${path}#${field}`);
    byName.set(`${snakeCased(record.name)}_${field}`, `${path}#${field}`);
  }
  for (const { bindings } of operations) {
    for (const { path } of bindings) {
      for (const [, name] of path.matchAll(/\{([^}=]+)/g)) {
        const slot = ofVariable(path, name!);
        if (slot !== undefined && !plainNames.has(name!) && !byName.has(name!)) byName.set(name!, slot);
      }
    }
  }

  /** The slot of a variable in a path: the list before it, if there is one. */
  function ofVariable(path: string, name: string): RecordSlot | undefined {
    const list = path.slice(0, path.search(new RegExp(`/\\{${name}[}=]`))).replace(/(\/\{[^}]+\})+$/, "");
    const record = lists.get(list);
    if (record === undefined) return undefined;
    if (hasField(record, name)) return byName.get(name) ?? `${list}#${name}`;
    const last = name.slice(name.lastIndexOf("_") + 1);
    return hasField(record, last) ? `${list}#${last}` : undefined;
  }

  /** The slot of a field anywhere else, by the longest known end of its name: `redirect_pool_id` is a `pool_id`. */
  function ofName(name: string): RecordSlot | undefined {
    const words = name.replace(/_ids$/, "_id").split("_");
    const ends = words.map((_, at) => words.slice(at).join("_")).filter((end) => !plainNames.has(end));
    const known = ends.find((end) => byName.has(end));
    return known === undefined ? undefined : byName.get(known);
  }

  return {
    ofName,
    ofVariable: (path: string, name: string) => ofVariable(path, name) ?? ofName(name),
    /** The slot that the records of an operation's responses fill. */
    ofResponse({ method, paging, bindings }: Operation): RecordSlot | undefined {
      const field = method.output.fields.find(({ name }) => name === bindings[0]!.responseBody);
      return byRecord.get(paging?.items.message ?? field?.message ?? method.output);
    },
  };
}

function hasField({ fields }: DescMessage, name: string): boolean {
  return fields.some((field) => field.name === name && field.fieldKind === "scalar");
}

function snakeCased(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]/g, "_$&").toLowerCase();
}
