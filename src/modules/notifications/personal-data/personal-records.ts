import type { Fragment, Sql } from "../../../platform/db/index.ts";

/** A subscriber, and what names it in other records. */
export interface Person {
  readonly tenantId: string;
  readonly id: string;
  readonly externalId: string;
  /** Its addresses, in lower case. */
  readonly addresses: readonly string[];
}

/** What becomes of records about a person. */
type Erasure = { readonly kind: "delete" } | { readonly kind: "update"; readonly assignments: Fragment };

/** The records of a table that are about a person. */
export interface PersonalRecords {
  readonly table: string;
  /** The condition for the rows of the tenant. */
  readonly where: Fragment;
  readonly erasure: Erasure;
}

/** Stands for a person in records that stay. */
const erasedName = "erased";

/**
 * All records about a person, in the order in which they can be erased: those that are found through others come first, and the
 * subscriber last. A test compares this with all tables of the database.
 */
export function personalRecords(sql: Sql, { tenantId, id, externalId, addresses }: Person): readonly PersonalRecords[] {
  const remove: Erasure = { kind: "delete" };
  const update = (assignments: Fragment): Erasure => ({ kind: "update", assignments });
  const owned = sql`subscriber_id = ${id}`;
  const names = [id, externalId];
  const of = (table: string, column: string) =>
    sql`(select ${sql(column)} from ${sql(table)} own where own.tenant_id = ${tenantId} and own.subscriber_id = ${id})`;
  const deliveries = of("notification_deliveries", "id");
  const runs = of("notification_runs", "id");
  const patterns = addresses.map((each) => `%${escaped(isDistinct(each) ? each : JSON.stringify(each))}%`);
  /** Texts that contain the id or an address. */
  const mentions = (text: Fragment) =>
    sql`(strpos(${text}, ${id}) > 0 or lower(${text}) like any(${patterns}::text[]))`;
  const isAccountOf = sql`end_user ->> 'id' = any(${names}::text[])`;
  const anonymous = update(sql`end_user = jsonb_build_object('id', ${erasedName}::text)`);
  const listed = (column: Fragment) => sql`(
    select coalesce(jsonb_agg(case when name = any(${names}::text[]) then ${erasedName} else name end order by nth), '[]')
    from jsonb_array_elements_text(${column}) with ordinality as list(name, nth))`;
  return [
    { table: "notification_observations", where: sql`delivery_id in ${deliveries}`, erasure: remove },
    { table: "notification_outbox", where: sql`id in ${deliveries}`, erasure: remove },
    { table: "notification_digest_events", where: sql`run_id in ${runs}`, erasure: remove },
    {
      table: "notification_payloads",
      where: sql`
        (transaction_id in ${of("notification_deliveries", "transaction_id")} or transaction_id in ${of("notification_runs", "transaction_id")})
        and not exists (
          select from notification_deliveries other where other.tenant_id = ${tenantId}
            and other.transaction_id = notification_payloads.transaction_id and other.subscriber_id <> ${id})
        and not exists (
          select from notification_runs other where other.tenant_id = ${tenantId}
            and other.transaction_id = notification_payloads.transaction_id and other.subscriber_id <> ${id})`,
      erasure: remove,
    },
    { table: "notification_dead_letters", where: owned, erasure: remove },
    { table: "notification_digests", where: owned, erasure: remove },
    { table: "notification_throttles", where: owned, erasure: remove },
    { table: "notification_inbox", where: owned, erasure: remove },
    { table: "notification_runs", where: owned, erasure: remove },
    { table: "notification_deliveries", where: owned, erasure: remove },
    { table: "notification_preferences", where: owned, erasure: remove },
    { table: "notification_subscriptions", where: owned, erasure: remove },
    { table: "notification_workflow_users", where: sql`user_id = any(${names}::text[])`, erasure: remove },
    {
      table: "notification_suppressions",
      where: sql`lower(identity) = any(${addresses as string[]}::text[])`,
      erasure: remove,
    },
    {
      table: "notification_topic_imports",
      where: sql`names ?| ${names}::text[] or unknown_names && ${names}::text[]`,
      erasure: update(sql`
        names = ${listed(sql`names`)},
        unknown_names = array(select unnest(unknown_names) except select unnest(${names}::text[]))`),
    },
    { table: "connector_connections", where: isAccountOf, erasure: anonymous },
    { table: "connector_connect_sessions", where: isAccountOf, erasure: anonymous },
    {
      table: "events",
      where: sql`
        (subject = ${id} or ${externalId} in (data ->> 'external_id', data ->> 'user_id', data ->> 'end_user_id') or ${mentions(sql`data::text`)})`,
      erasure: update(sql`subject = case when subject = ${id} then ${erasedName} else subject end, data = '{}'`),
    },
    {
      table: "idempotency_records",
      where: sql`(strpos(principal, ${id}) > 0 or ${mentions(sql`coalesce(response, '')`)} or ${mentions(sql`key`)})`,
      erasure: remove,
    },
    { table: "notification_endpoints", where: owned, erasure: remove },
    { table: "notification_subscribers", where: sql`id = ${id}`, erasure: remove },
  ];
}

/** Whether an address is so long that a text which contains it is about the person. Shorter ones must be a whole value of JSON. */
function isDistinct(address: string): boolean {
  return address.includes("@") || address.length >= 8;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\%_]/g, "\\$&");
}
