import type { TenantId } from "../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../platform/db/index.ts";
import type { JsonObject } from "../../../platform/document/index.ts";
import type { Pack } from "./domain/pack.ts";

/** A published version with its document. */
export interface StoredVersion {
  readonly version: string;
  readonly document: JsonObject;
  readonly digest: string;
  readonly signature: string;
  readonly keyId: string;
  readonly yanked: boolean;
  readonly yankReason: string;
  /** Null for built-in packs. */
  readonly publishedAt: Date | null;
}

/** A version without its document. */
export type VersionHead = Omit<StoredVersion, "document" | "signature">;

/** The searchable part of a built-in pack. */
export type BuiltInEntry = Pick<
  Pack,
  "publisher" | "name" | "kind" | "title" | "description" | "tags" | "deprecatedBy"
>;

/** A search for packs. Empty fields match all. */
export interface PackFilter {
  readonly query: string;
  readonly kind: string;
  readonly publisher: string;
  readonly installed: boolean | undefined;
}

/** A version in a list: the pack without its contents. */
export interface PackSummary {
  readonly pack: Omit<Pack, "contents">;
  readonly digest: string;
  readonly keyId: string;
}

/** A pack in a list. */
export interface FoundPack {
  readonly publisher: string;
  readonly name: string;
  readonly deprecatedBy: string;
  /** Null for built-in packs. */
  readonly summary: PackSummary | null;
  /** Null if the pack is not installed. */
  readonly installationId: string | null;
  readonly installedVersion: string | null;
}

/** The SQL queries of packs that tenants published. */
export function packStore(sql: Sql) {
  const headColumns = sql`version, digest, key_id, yanked, yank_reason, published_at`;

  /** Words by their stems, and as they are: the beginning of a word need not be one of its stem. */
  const wordsOf = (text: Fragment) => sql`(to_tsvector('english', ${text}) || to_tsvector('simple', ${text}))`;

  /** The words of a pack by their weight: name and title, tags, description. */
  const searchVector = (name: Fragment, title: Fragment, tags: Fragment, description: Fragment) => sql`
    (setweight(${wordsOf(sql`${name} || ' ' || ${title}`)}, 'A') ||
     setweight(${wordsOf(tags)}, 'B') ||
     setweight(${wordsOf(description)}, 'C'))`;

  /**
   * The search for all words. Every word matches as a prefix, so that results appear while somebody types. Words such as "a" and
   * "for" do not matter, except for the last one: it may be the beginning of another word.
   */
  function searchQuery(words: readonly string[]): Fragment {
    const queries = words.map((word, at) => {
      const stem = sql`to_tsquery('english', ${`${word}:*`})`;
      const either = sql`(${stem} || to_tsquery('simple', ${`${word}:*`}))`;
      return at === words.length - 1
        ? either
        : sql`(case when numnode(${stem}) = 0 then ''::tsquery else ${either} end)`;
    });
    return queries.reduce((all, each) => sql`${all} && ${each}`);
  }

  return {
    async count(tenantId: TenantId): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from marketplace_pack_versions where tenant_id = ${tenantId}`;
      return row!.count;
    },

    async versions(tenantId: TenantId, publisher: string, name: string): Promise<VersionHead[]> {
      return sql<VersionHead[]>`
        select ${headColumns} from marketplace_pack_versions
        where tenant_id = ${tenantId} and publisher = ${publisher} and name = ${name}`;
    },

    find: (tenantId: TenantId, publisher: string, name: string, version: string) =>
      sql<StoredVersion[]>`
        select ${headColumns}, document, signature from marketplace_pack_versions
        where tenant_id = ${tenantId} and publisher = ${publisher} and name = ${name} and version = ${version}`.first(),

    async insertVersion(
      tenantId: TenantId,
      { publisher, name, version }: Pack,
      { document, digest, signature, keyId }: Pick<StoredVersion, "document" | "digest" | "signature" | "keyId">,
      publishedBy: string,
      now: Date,
    ): Promise<void> {
      await sql`
        insert into marketplace_pack_versions (tenant_id, publisher, name, version, document, digest, signature, key_id,
          published_by, published_at)
        values (${tenantId}, ${publisher}, ${name}, ${version}, ${JSON.stringify(document)}::text::json, ${digest},
          ${signature}, ${keyId}, ${publishedBy}, ${now})`;
    },

    /** Describes a pack by one of its versions. */
    async describe(
      tenantId: TenantId,
      summary: PackSummary,
      { deprecatedBy, yanked }: { readonly deprecatedBy: string; readonly yanked: boolean },
      now: Date,
    ): Promise<void> {
      const { pack } = summary;
      const { publisher, name, kind, version, title, description } = pack;
      const tags = pack.tags.join(" ");
      const vector = searchVector(
        sql`${name}::text`,
        sql`${title}::text`,
        sql`${tags}::text`,
        sql`${description}::text`,
      );
      await sql`
        insert into marketplace_packs (tenant_id, publisher, name, kind, latest_version, title, description, tags,
          deprecated_by, yanked, summary, search, created_at, updated_at)
        values (${tenantId}, ${publisher}, ${name}, ${kind}, ${version}, ${title}, ${description},
          ${pack.tags as string[]}, ${deprecatedBy}, ${yanked},
          ${JSON.stringify(summary)}::text::json, ${vector}, ${now}, ${now})
        on conflict (tenant_id, publisher, name) do update set
          latest_version = excluded.latest_version, title = excluded.title, description = excluded.description,
          tags = excluded.tags, deprecated_by = excluded.deprecated_by, yanked = excluded.yanked,
          summary = excluded.summary, search = excluded.search, updated_at = excluded.updated_at`;
    },

    async deprecatedBy(tenantId: TenantId, publisher: string, name: string): Promise<string> {
      const [row] = await sql<{ deprecatedBy: string }[]>`
        select deprecated_by from marketplace_packs
        where tenant_id = ${tenantId} and publisher = ${publisher} and name = ${name}`;
      return row?.deprecatedBy ?? "";
    },

    /** Yanks a version; false if it is already yanked. */
    async yank(tenantId: TenantId, publisher: string, name: string, version: string, reason: string): Promise<boolean> {
      const { count } = await sql`
        update marketplace_pack_versions set yanked = true, yank_reason = ${reason}
        where tenant_id = ${tenantId} and publisher = ${publisher} and name = ${name} and version = ${version}
          and not yanked`;
      return count === 1;
    },

    /** Searches the tenant's packs and the built-in ones, best match first. The total is exact. */
    async search(
      tenantId: TenantId,
      builtIn: readonly BuiltInEntry[],
      { query, kind, publisher, installed }: PackFilter,
      { offset, limit }: { readonly offset: number; readonly limit: number },
    ): Promise<{ readonly packs: FoundPack[]; readonly total: number }> {
      const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
      const wanted = words.length === 0 ? undefined : searchQuery(words);
      const shipped = builtIn.map(({ publisher, name, kind, title, description, tags, deprecatedBy }) => ({
        ...{ publisher, name, kind, title, description, tags: tags.join(" "), deprecated_by: deprecatedBy },
      }));
      const vector = searchVector(sql`b.name`, sql`b.title`, sql`b.tags`, sql`b.description`);
      const entries = sql`
        select publisher, name, kind, deprecated_by, summary, search
        from marketplace_packs where tenant_id = ${tenantId} and not yanked
        union all
        select b.publisher, b.name, b.kind, b.deprecated_by, null, ${vector}
        from jsonb_to_recordset(${sql.json(shipped as never)}) as b(publisher text, name text, kind text, title text,
          description text, tags text, deprecated_by text)`;
      const matched = sql`
        from (${entries}) e
        left join marketplace_installations i
          on i.tenant_id = ${tenantId} and i.publisher = e.publisher and i.name = e.name
        where true ${wanted === undefined ? sql`` : sql`and e.search @@ (${wanted})`}
          ${kind === "" ? sql`` : sql`and e.kind = ${kind}`}
          ${publisher === "" ? sql`` : sql`and e.publisher = ${publisher}`}
          ${installed === undefined ? sql`` : sql`and (i.id is not null) = ${installed}`}`;
      const [counted] = await sql<{ total: number }[]>`select count(*)::int as total ${matched}`;
      const packs = await sql<FoundPack[]>`
        select e.publisher, e.name, e.deprecated_by, e.summary, i.id as installation_id,
          i.version as installed_version
        ${matched}
        order by ${wanted === undefined ? sql`` : sql`ts_rank(e.search, ${wanted}) desc,`} e.name, e.publisher offset ${offset} limit ${limit}`;
      return { packs, total: counted!.total };
    },
  };
}
