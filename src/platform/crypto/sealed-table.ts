import type { Sql } from "../db/index.ts";
import type { Reencryptable } from "./reencryption.ts";

/**
 * A table with the columns `tenant_id`, `id`, `key_id` and `ciphertext`, for re-encryption. Rows with an empty ciphertext have
 * no secret.
 */
export function sealedTable(sql: Sql, table: string, bindingOf: Reencryptable["bindingOf"]): Reencryptable {
  return {
    table,
    bindingOf,

    async next(activeKeyId, after, limit) {
      // An index supports < and > but not <>. Mostly no row matches.
      return sql`
        select tenant_id, id, ciphertext from ${sql(table)}
        where (key_id < ${activeKeyId} or key_id > ${activeKeyId}) and ciphertext <> ''
          and (tenant_id, id) > (${after?.tenantId ?? ""}, ${after?.id ?? ""})
        order by tenant_id, id limit ${limit}`;
    },

    async replace(activeKeyId, replacements) {
      // Lock rows in the global order to avoid deadlocks between nodes.
      const { count } = await sql`
        with unchanged as (
          select record.tenant_id, record.id, sealed.replacement
          from ${sql(table)} record join unnest(
              ${replacements.map((each) => each.tenantId)}::text[], ${replacements.map((each) => each.id)}::text[],
              ${replacements.map((each) => each.ciphertext)}::text[],
              ${replacements.map((each) => each.replacement)}::text[]) as sealed(tenant_id, id, ciphertext, replacement)
            on record.tenant_id = sealed.tenant_id and record.id = sealed.id and record.ciphertext = sealed.ciphertext
          order by record.tenant_id, record.id for update of record)
        update ${sql(table)} record set ciphertext = unchanged.replacement, key_id = ${activeKeyId}
        from unchanged where record.tenant_id = unchanged.tenant_id and record.id = unchanged.id`;
      return count;
    },
  };
}
