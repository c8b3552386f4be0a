import type { Context } from "../../../chain/call.ts";
import { Failure, fail } from "../../../errors/index.ts";
import { covers } from "../../../platform/access/index.ts";
import type { FindUses, JsonObject, PackRecords, RecordKind, RecordUse } from "../../pack-records.ts";
import { type Pack, type PackEntry, packName, type Slot } from "./domain/pack.ts";
import { describePermissions, isEmpty, permissionsBeyond } from "./domain/permissions.ts";
import { fillPlaceholders, type PlaceholderValues, placeholdersOf } from "./domain/placeholders.ts";

interface Dependencies {
  readonly packRecords: () => readonly PackRecords[];
  readonly findUses: () => readonly FindUses[];
}

/** The owners of all kinds of records, which create, change and delete them. */
export type RecordOwners = ReturnType<typeof createRecordOwners>;

export function createRecordOwners({ packRecords, findUses }: Dependencies) {
  function ownerOf(kind: RecordKind): PackRecords {
    const owner = packRecords().find((each) => each.kind === kind);
    if (owner === undefined) {
      throw fail("FAILED_PRECONDITION", { public: `This service has no records of the kind ${kind}.` });
    }
    return owner;
  }

  function contentOf(pack: Pack, entry: PackEntry, values: PlaceholderValues): JsonObject {
    const owner = ownerOf(entry.record);
    const content = withEntry(entry, () => owner.normalize(fillPlaceholders(entry.content, values)));
    const undeclared = permissionsBeyond(owner.permissionsOf(content), pack.permissions);
    if (isEmpty(undeclared)) return content;
    throw fail("FAILED_PRECONDITION", {
      public: `${packName(pack)} does more than it declares: ${entry.record} ${entry.key} needs ${describePermissions(undeclared)}.`,
    });
  }

  return {
    ownerOf,

    /** The content of an entry in normal form. Throws if it is invalid or does more than the pack declares. */
    contentOf,

    /**
     * Throws if a pack cannot be installed whatever its slots are filled with. An entry that needs a text or a number without a
     * default is checked when it is installed.
     */
    requireValidContents(pack: Pack): void {
      const values = sampleValues(pack);
      for (const entry of pack.contents) {
        const isKnown = placeholdersOf(entry.content).every(({ kind, name }) => values[kind][name] !== undefined);
        if (isKnown) contentOf(pack, entry, values);
      }
    },

    /** Throws unless the caller may change every kind of record of a pack. */
    requireScopes({ principal }: Context, records: readonly { readonly kind: RecordKind }[]): void {
      const scopes = new Set(records.flatMap(({ kind }) => ownerOf(kind).scopes));
      const missing = [...scopes].filter((scope) => !covers(principal.scopes, scope));
      if (missing.length === 0) return;
      throw fail("PERMISSION_DENIED", {
        public: `The records of this pack also require the scope ${missing.join(", ")}.`,
        extra: { missing_scopes: missing },
      });
    },

    /** Everything that refers to a record. */
    async usesOf(context: Context, kind: RecordKind, recordId: string): Promise<readonly RecordUse[]> {
      const owner = ownerOf(kind);
      const uses = [...(await owner.uses(context, recordId))];
      const names = await owner.names(context, recordId);
      if (names.length === 0) return uses;
      for (const find of findUses()) uses.push(...(await find(context, kind, names)));
      return uses;
    },

    /** Runs an action on an entry. A failure names the entry. */
    async forEntry<T>(entry: Pick<PackEntry, "key" | "record">, action: () => Promise<T>): Promise<T> {
      try {
        return await action();
      } catch (error) {
        throw namedFailure(entry, error);
      }
    },
  };
}

/** Values of placeholders that have the form of real ones. */
function sampleValues({ contents, slots }: Pack): PlaceholderValues {
  const id = "0".repeat(26);
  const sampleOf = ({ kind, defaultValue }: Slot) =>
    defaultValue ?? (kind === "text" || kind === "number" ? undefined : id);
  const known = slots.flatMap((slot) => {
    const value = sampleOf(slot);
    return value === undefined ? [] : [[slot.name, value] as const];
  });
  return { slot: Object.fromEntries(known), record: Object.fromEntries(contents.map(({ key }) => [key, id])) };
}

function withEntry<T>(entry: PackEntry, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw namedFailure(entry, error);
  }
}

function namedFailure({ key, record }: Pick<PackEntry, "key" | "record">, error: unknown): unknown {
  if (!(error instanceof Failure)) return error;
  const { code, message, violations, extra, cause } = error;
  return fail(code, {
    public: `${record} ${key}: ${message}`,
    violations: violations.map((each) => ({ ...each, field: `contents.${key}.${each.field}` })),
    extra,
    cause,
  });
}
