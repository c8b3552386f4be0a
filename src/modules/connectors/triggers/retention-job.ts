import { joinSelected, type Sql } from "../../../platform/db/index.ts";
import { type RetentionDependencies, retentionJob } from "../../../platform/jobs/index.ts";

/** How long the keys of webhook events are kept: longer than providers repeat deliveries by themselves. */
const webhookKeyDays = 7;

/** Creates the job that keeps the partitions of events and deletes keys that no provider sends again. */
export function maintainTriggersJob(dependencies: RetentionDependencies & { readonly retentionDays: number }) {
  const ageMs = dependencies.retentionDays * 86_400_000;
  return retentionJob(dependencies, {
    ...{ kind: "connector.maintain_triggers", everyMs: 10 * 60_000 },
    rows: [
      { ageMs, partitions: { name: "connector_trigger_events", column: "received_at" } },
      { expire: deleteSeenKeys },
    ],
  });
}

/**
 * Deletes keys of deleted subscriptions, old keys of webhooks, and keys of polled items that no scan can find again. The age of
 * the latter is measured from the last complete scan, not from now: a subscription that was not polled for long looks back over
 * all that time.
 */
async function deleteSeenKeys(sql: Sql, now: Date, limit: number): Promise<number> {
  const unneeded = sql`
    from connector_trigger_dedup_keys seen
    left join lateral (
      select id, kind, scanned_at, ledger_s from connector_trigger_subscriptions
      where tenant_id = seen.tenant_id and id = seen.subscription_id) subscription on true
    where seen.seen_at < ${now}::timestamptz - ${webhookKeyDays}::int * interval '1 day'
      and (subscription.id is null or subscription.kind = 'webhook'
        or seen.seen_at < subscription.scanned_at - subscription.ledger_s * interval '1 second')
    limit ${limit}`;
  const key = ["tenant_id", "subscription_id", "key"];
  const joined = joinSelected(sql, "connector_trigger_dedup_keys", unneeded, key);
  return (await sql`delete from connector_trigger_dedup_keys using ${joined}`).count;
}
