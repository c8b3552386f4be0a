import type { Context } from "../../../chain/call.ts";
import { Failure, fail } from "../../../errors/index.ts";
import { covers } from "../../../platform/access/index.ts";
import type { FindUses, JsonObject, PackRecords, RecordKind, RecordUse } from "../../pack-records.ts";
import { type Pack, type PackEntry, packName } from "./domain/pack.ts";
import { describePermissions, isEmpty, permissionsBeyond } from "./domain/permissions.ts";
import { fillPlaceholders, type PlaceholderValues } from "./domain/placeholders.ts";

interface Parts {
  readonly records: () => readonly PackRecords[];
  readonly findUses: () => readonly FindUses[];
}

/** The owners of all kinds of records, which create, change and delete them. */
export type RecordOwners = ReturnType<typeof createRecordOwners>;

/** Creates the access to the owners of records. */
export function createRecordOwners({ records, findUses }: Parts) {
  function ownerOf(kind: RecordKind): PackRecords {
    const owner = records().find((each) => each.kind === kind);
    if (owner === undefined) {
      throw fail("FAILED_PRECONDITION", { public: `This service has no records of the kind ${kind}.` });
    }
    return owner;
  }

  return {
    ownerOf,

    /** Throws unless the caller may change every kind of record of a pack. */
    requireScopes({ principal }: Context, entries: readonly { readonly record: RecordKind }[]): void {
      const scopes = new Set(entries.flatMap(({ record }) => ownerOf(record).scopes));
      const missing = [...scopes].filter((scope) => !covers(principal.scopes, scope));
      if (missing.length === 0) return;
      throw fail("PERMISSION_DENIED", {
        public: `The records of this pack also require the scope ${missing.join(", ")}.`,
        extra: { missing_scopes: missing },
      });
    },

    /** The content of an entry in normal form. Throws if it is invalid or does more than the pack declares. */
    contentOf(pack: Pack, entry: PackEntry, values: PlaceholderValues): JsonObject {
      const owner = ownerOf(entry.record);
      const content = withEntry(entry, () => owner.normalize(fillPlaceholders(entry.content, values)));
      const undeclared = permissionsBeyond(owner.permissionsOf(content), pack.permissions);
      if (isEmpty(undeclared)) return content;
      throw fail("FAILED_PRECONDITION", {
        public: `${packName(pack)} does more than it declares: ${entry.record} ${entry.key} needs ${describePermissions(undeclared)}.`,
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
