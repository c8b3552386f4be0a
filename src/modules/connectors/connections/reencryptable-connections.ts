import type { Reencryptable } from "../../../platform/crypto/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { bindingOf } from "./domain/connection.ts";

/** The credentials of all tenants, for re-encryption. Revoked connections have none. */
export function reencryptableConnections(sql: Sql): Reencryptable {
  return {
    bindingOf,

    async next(activeKeyId, after, limit) {
      // An index supports < and > but not <>. Mostly no row matches.
      return sql`
        select tenant_id, id, ciphertext from connector_connections
        where (key_id < ${activeKeyId} or key_id > ${activeKeyId}) and ciphertext <> ''
          and (tenant_id, id) > (${after?.tenantId ?? ""}, ${after?.id ?? ""})
        order by tenant_id, id limit ${limit}`;
    },

    async replace(activeKeyId, replacements) {
      // Lock rows in the global order to avoid deadlocks between nodes.
      const { count } = await sql`
        with unchanged as (
          select connection.tenant_id, connection.id, sealed.replacement
          from connector_connections connection join unnest(
              ${replacements.map((each) => each.tenantId)}::text[], ${replacements.map((each) => each.id)}::text[],
              ${replacements.map((each) => each.ciphertext)}::text[],
              ${replacements.map((each) => each.replacement)}::text[]) as sealed(tenant_id, id, ciphertext, replacement)
            on connection.tenant_id = sealed.tenant_id and connection.id = sealed.id
              and connection.ciphertext = sealed.ciphertext
          order by connection.tenant_id, connection.id for update of connection)
        update connector_connections connection set ciphertext = unchanged.replacement, key_id = ${activeKeyId}
        from unchanged where connection.tenant_id = unchanged.tenant_id and connection.id = unchanged.id`;
      return count;
    },
  };
}
