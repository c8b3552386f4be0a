import type { TenantId } from "../../../platform/access/index.ts";
import { insertRowImages, type RowImage, type Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import { newStamps, recordTable } from "../../../platform/records/index.ts";
import type { JsonObject } from "./domain/language/definition.ts";
import { callName, type SubworkflowCall } from "./domain/language/references.ts";
import type {
  DefinitionHead,
  DefinitionId,
  DefinitionStatus,
  DefinitionVersion,
  Draft,
  NewVersion,
  VersionHead,
  WorkflowDefinition,
} from "./domain/workflow-definition.ts";

/** A definition that a subworkflow step names, with the calls of the version. */
export interface CalledDefinition extends SubworkflowCall {
  readonly activeVersion: number;
  /** Undefined if the definition has no such version. */
  readonly calls: readonly SubworkflowCall[] | undefined;
}

/** A version that was withdrawn when the upgrade of a pack was rolled back. */
export interface WithdrawnVersion {
  /** The key of the definition, which may no longer exist. */
  readonly key: string;
  readonly document: JsonObject;
  readonly digest: string;
}

export interface DefinitionFilter {
  /** Undefined: all that are not archived. */
  readonly status: DefinitionStatus | undefined;
  readonly keyPrefix: string;
}

interface CallRow {
  readonly key: string;
  readonly version: number;
  readonly activeVersion: number;
  readonly callKeys: readonly string[] | null;
  readonly callVersions: readonly number[] | null;
}

const definitions = recordTable<DefinitionHead, Pick<WorkflowDefinition, "draft" | "draftText">>(
  "workflow_definitions",
  {
    fixed: "tenant_id id key created_at",
    mutable: "name status draft_digest draft_authors active_version active_digest updated_at record_version",
    internal: "draft draft_text",
    computed: (sql) => sql`(
    select coalesce(max(v.version), 0) from workflow_definition_versions v
    where v.tenant_id = workflow_definitions.tenant_id and v.definition_id = workflow_definitions.id) as last_version`,
  },
);

export function definitionStore(sql: Sql) {
  const { columns: headColumns, fullColumns, insert, set, lockFull, listWhere } = definitions(sql);
  const versionColumns = sql`tenant_id, definition_id, version, digest, message, published_by, authors, published_at`;

  /** A definition by its id, or by its key if it is not archived. */
  const named = (tenantId: TenantId, idOrKey: string) => sql`
    tenant_id = ${tenantId} and (id = ${idOrKey} or (key = ${idOrKey} and status <> 'archived'))
    order by id = ${idOrKey} desc limit 1`;

  return {
    /** Counts the definitions that are not archived. */
    async count(tenantId: TenantId): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from workflow_definitions where tenant_id = ${tenantId} and status <> 'archived'`;
      return row!.count;
    },

    async insert(
      tenantId: TenantId,
      id: DefinitionId,
      document: Draft,
      author: string,
      nowMs: number,
    ): Promise<WorkflowDefinition> {
      const { key, name, document: draft, digest: draftDigest, text: draftText = "" } = document;
      const none = { status: "draft", activeVersion: 0, activeDigest: "", lastVersion: 0 } as const;
      const written = { draft, draftText, draftDigest, draftAuthors: [author] };
      return {
        ...(await insert({ tenantId, id, key, name, ...written, ...none, ...newStamps(nowMs) })),
        draft,
        draftText,
      };
    },

    find: (tenantId: TenantId, idOrKey: string) =>
      sql<WorkflowDefinition[]>`
        select ${fullColumns} from workflow_definitions where ${named(tenantId, idOrKey)}`.first(),

    findHead: (tenantId: TenantId, idOrKey: string) =>
      sql<DefinitionHead[]>`
        select ${headColumns} from workflow_definitions where ${named(tenantId, idOrKey)}`.first(),

    /** The archived definition that had a key last. */
    findArchived: (tenantId: TenantId, key: string) =>
      sql<DefinitionHead[]>`
        select ${headColumns} from workflow_definitions
        where tenant_id = ${tenantId} and key = ${key} and status = 'archived' order by id desc limit 1`.first(),

    /** Locks a definition until the transaction ends. */
    lockRow: lockFull,

    /** The keys of a list that definitions already use. */
    async takenKeys(tenantId: TenantId, keys: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await sql<{ key: string }[]>`
        select key from workflow_definitions
        where tenant_id = ${tenantId} and key = any(${keys as string[]}) and status <> 'archived'`;
      return new Set(rows.map(({ key }) => key));
    },

    async keys(tenantId: TenantId, limit: number): Promise<readonly string[]> {
      const rows = await sql<{ key: string }[]>`
        select key from workflow_definitions where tenant_id = ${tenantId} and status <> 'archived'
        order by key limit ${limit}`;
      return rows.map(({ key }) => key);
    },

    /** Replaces the draft; undefined when the expected version is not current or the definition is archived. */
    async updateDraft(
      tenantId: TenantId,
      id: DefinitionId,
      { document: draft, digest, name, text: draftText = "" }: Draft,
      author: string,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<WorkflowDefinition | undefined> {
      const assignments = sql`draft = ${JSON.stringify(draft)}::text::json, draft_text = ${draftText}, draft_digest = ${digest}, name = ${name},
        draft_authors = case
          when exists (select from workflow_definition_versions v where v.tenant_id = ${tenantId} and v.definition_id = ${id}
            and v.digest = draft_digest) then array[${author}]
          else array(select each from unnest(draft_authors) each union select ${author}) end`;
      const isExpected = sql`
        status <> 'archived' and record_version = coalesce(${expectedVersion ?? null}::int, record_version)`;
      const updated = await set(tenantId, id, now, assignments, isExpected);
      return updated && { ...updated, draft, draftText };
    },

    /** Makes a version active. Version 0 makes none active, as before the first publication. */
    async activate(
      tenantId: TenantId,
      id: DefinitionId,
      { version, digest }: Pick<VersionHead, "version" | "digest">,
      now: Date,
    ): Promise<DefinitionHead> {
      const status = version === 0 ? "draft" : "published";
      const active = sql`status = ${status}, active_version = ${version}, active_digest = ${digest}`;
      return (await set(tenantId, id, now, active))!;
    },

    async archive({ tenantId, id, draft, draftText }: WorkflowDefinition, now: Date): Promise<WorkflowDefinition> {
      return { ...(await set(tenantId, id, now, sql`status = 'archived'`))!, draft, draftText };
    },

    list(tenantId: TenantId, { status, keyPrefix }: DefinitionFilter, page: Page) {
      const byStatus = status === undefined ? sql`status <> 'archived'` : sql`status = ${status}`;
      const byKey = keyPrefix === "" ? sql`` : sql`and starts_with(key, ${keyPrefix})`;
      return listWhere(tenantId, {}, page, { where: sql`${byStatus} ${byKey}` });
    },

    async insertVersion(version: NewVersion): Promise<VersionHead> {
      const { calls } = version;
      const [row] = await sql<VersionHead[]>`
        insert into workflow_definition_versions (tenant_id, definition_id, version, document, digest, call_keys,
          call_versions, message, published_by, authors, published_at)
        values (${version.tenantId}, ${version.definitionId}, ${version.version},
          ${JSON.stringify(version.document)}::text::json, ${version.digest}, ${calls.map(({ key }) => key)},
          ${calls.map((call) => call.version ?? 0)}::int[], ${version.message}, ${version.publishedBy},
          ${version.authors as string[]}, ${version.publishedAt})
        returning ${versionColumns}`;
      return row!;
    },

    findVersion: (tenantId: TenantId, id: DefinitionId, version: number) =>
      sql<DefinitionVersion[]>`
        select ${versionColumns}, document from workflow_definition_versions
        where tenant_id = ${tenantId} and definition_id = ${id} and version = ${version}`.first(),

    findVersionHead: (tenantId: TenantId, id: DefinitionId, version: number) =>
      sql<VersionHead[]>`
        select ${versionColumns} from workflow_definition_versions
        where tenant_id = ${tenantId} and definition_id = ${id} and version = ${version}`.first(),

    async listVersions(tenantId: TenantId, id: DefinitionId, page: Page): Promise<PageRows<VersionHead>> {
      const where = sql`tenant_id = ${tenantId} and definition_id = ${id}`;
      const table = "workflow_definition_versions";
      return readKeyset<VersionHead>(
        sql,
        { columns: versionColumns, table, where, key: "version", newestFirst: true },
        page,
      );
    },

    /** The highest number that a version of a definition ever had. Withdrawn numbers are not used again. */
    async lastVersion({ tenantId, id, lastVersion: last }: DefinitionHead): Promise<number> {
      const [row] = await sql<{ last: number | null }[]>`
        select max(version) as last from workflow_withdrawn_versions
        where tenant_id = ${tenantId} and definition_id = ${id}`;
      return Math.max(last, row!.last ?? 0);
    },

    /** Moves the versions above a number to the withdrawn ones, which only runs in progress use. */
    async withdrawVersions({ tenantId, id, key }: DefinitionHead, above: number, now: Date): Promise<void> {
      await sql`
        with withdrawn as (
          delete from workflow_definition_versions
          where tenant_id = ${tenantId} and definition_id = ${id} and version > ${above}
          returning tenant_id, definition_id, version, document, digest)
        insert into workflow_withdrawn_versions (tenant_id, definition_id, version, key, document, digest, withdrawn_at)
        select tenant_id, definition_id, version, ${key}, document, digest, ${now} from withdrawn`;
    },

    async listWithdrawn(tenantId: TenantId, id: DefinitionId): Promise<number[]> {
      const rows = await sql<{ version: number }[]>`
        select version from workflow_withdrawn_versions where tenant_id = ${tenantId} and definition_id = ${id}`;
      return rows.map(({ version }) => version);
    },

    /** A withdrawn version with the key of its definition. */
    findWithdrawn: (tenantId: TenantId, definitionId: string, version: number) =>
      sql<WithdrawnVersion[]>`
        select key, document, digest from workflow_withdrawn_versions
        where tenant_id = ${tenantId} and definition_id = ${definitionId} and version = ${version}`.first(),

    /** Replaces the row of a definition by its image; undefined deletes it. */
    async replaceRow(tenantId: TenantId, id: DefinitionId, image: RowImage | undefined): Promise<void> {
      await sql`delete from workflow_definitions where tenant_id = ${tenantId} and id = ${id}`;
      if (image !== undefined) await insertRowImages(sql, "workflow_definitions", [image]);
    },

    /** The active documents of a tenant, read in pages. */
    async *activeDocuments(tenantId: TenantId): AsyncGenerator<JsonObject> {
      for (let after = ""; ; ) {
        const rows = await sql<{ id: string; document: JsonObject }[]>`
          select d.id, v.document from workflow_definitions d
          join workflow_definition_versions v
            on v.tenant_id = d.tenant_id and v.definition_id = d.id and v.version = d.active_version
          where d.tenant_id = ${tenantId} and d.status = 'published' and d.id > ${after}
          order by d.id limit 50`;
        for (const { document } of rows) yield document;
        if (rows.length < 50) return;
        after = rows.at(-1)!.id;
      }
    },

    /** The definitions that calls lead to, directly and through others, with their own calls. */
    async reachable(tenantId: TenantId, calls: readonly SubworkflowCall[]): Promise<readonly CalledDefinition[]> {
      if (calls.length === 0) return [];
      // Version 0 is the active one. Each definition and version is visited once.
      const rows = await sql<CallRow[]>`
        with recursive reached (key, version) as (
          select * from unnest(${calls.map(({ key }) => key)}::text[], ${calls.map((call) => call.version ?? 0)}::int[])
          union
          select c.key, c.version
          from reached r
          join workflow_definitions d on d.tenant_id = ${tenantId} and d.key = r.key and d.status <> 'archived'
          join workflow_definition_versions v on v.tenant_id = ${tenantId} and v.definition_id = d.id
            and v.version = case r.version when 0 then d.active_version else r.version end
          cross join lateral unnest(v.call_keys, v.call_versions) as c (key, version)
        )
        select r.key, r.version, d.active_version, v.call_keys, v.call_versions
        from reached r
        join workflow_definitions d on d.tenant_id = ${tenantId} and d.key = r.key and d.status <> 'archived'
        left join workflow_definition_versions v on v.tenant_id = ${tenantId} and v.definition_id = d.id
          and v.version = case r.version when 0 then d.active_version else r.version end`;
      return rows.map(toCalledDefinition);
    },

    /** The input schemas of the versions that calls name, by the names of the calls. Versions without a schema are absent. */
    async inputSchemas(
      tenantId: TenantId,
      calls: readonly SubworkflowCall[],
    ): Promise<ReadonlyMap<string, JsonObject>> {
      if (calls.length === 0) return new Map();
      const rows = await sql<{ key: string; version: number; schema: JsonObject }[]>`
        select c.key, c.version, v.document -> 'input_schema' as schema
        from unnest(${calls.map(({ key }) => key)}::text[], ${calls.map((call) => call.version ?? 0)}::int[])
          as c (key, version)
        join workflow_definitions d on d.tenant_id = ${tenantId} and d.key = c.key and d.status <> 'archived'
        join workflow_definition_versions v on v.tenant_id = ${tenantId} and v.definition_id = d.id
          and v.version = case c.version when 0 then d.active_version else c.version end
        where v.document -> 'input_schema' is not null`;
      return new Map(
        rows.map(({ key, version, schema }) => [callName({ key, version: version || undefined }), schema]),
      );
    },

    /** The keys of definitions whose active version runs the definition with a key. */
    async callers(tenantId: TenantId, key: string, limit: number): Promise<readonly string[]> {
      const rows = await sql<{ key: string }[]>`
        select d.key from workflow_definitions d
        join workflow_definition_versions v
          on v.tenant_id = d.tenant_id and v.definition_id = d.id and v.version = d.active_version
        where d.tenant_id = ${tenantId} and d.status = 'published' and d.key <> ${key} and ${key} = any(v.call_keys)
        order by d.key limit ${limit}`;
      return rows.map((row) => row.key);
    },
  };
}

function toCalledDefinition({ key, version, activeVersion, callKeys, callVersions }: CallRow): CalledDefinition {
  const calls = callKeys?.map((called, at) => ({ key: called, version: callVersions![at] || undefined }));
  return { key, version: version || undefined, activeVersion, calls };
}
