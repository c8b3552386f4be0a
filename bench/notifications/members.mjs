// Creates topics with many subscribers directly in the database, because creating them is not measured.

/** Creates a topic with a number of members; `phone` gives each a phone number. */
export async function fillTopic(call, sql, topic, members, { phone = false } = {}) {
  await call("POST", "/api/v2/notification/topics", { key: topic });
  const [{ id: tenantId }] = await sql`select id from tenants where platform`;
  const [{ used }] = await sql`select count(*)::int as used from notification_subscribers`;
  await sql`
    insert into notification_subscribers (tenant_id, id, external_id, first_name, phone, created_at, updated_at)
    select ${tenantId}, '01K' || lpad(n::text, 23, '0'), 'e' || n, 'N' || n,
      case when ${phone} then '+49309018' || lpad(n::text, 6, '0') else '' end, now(), now()
    from generate_series(${used + 1}::int, ${used + members}::int) as n`;
  await sql`
    insert into notification_subscriptions (tenant_id, topic_key, id, subscriber_id, created_at)
    select ${tenantId}, ${topic}, '01M' || lpad(n::text, 23, '0'), '01K' || lpad(n::text, 23, '0'), now()
    from generate_series(${used + 1}::int, ${used + members}::int) as n`;
  await sql`vacuum analyze`;
  await sql`checkpoint`;
}
