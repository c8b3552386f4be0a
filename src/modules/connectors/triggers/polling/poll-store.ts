import { type Fragment, fromNow, isServed, type Sql } from "../../../../platform/db/index.ts";
import type { LeaseRequest } from "../../../../platform/jobs/index.ts";
import type { PageState } from "../../manifests/index.ts";
import type { Subscription } from "../domain/subscription.ts";

/** An unfinished scan of a provider's list. */
export interface Scan {
  readonly startedAtMs: number;
  /** The number of pages and items that were read. */
  readonly pages: number;
  readonly items: number;
  readonly next: PageState["next"];
}

/** A poll that this node makes. */
export interface Poll
  extends Pick<Subscription, "tenantId" | "id" | "environmentKey" | "triggerKey" | "connectionId" | "input">,
    Pick<Subscription, "scannedAt" | "pollFailures" | "readyAt" | "intakeError"> {
  readonly scan: Scan | null;
  readonly pollClaim: string;
}

/** The due polls among which a claim chooses. */
const scannedMax = 2000;

/** The SQL queries of polls. Due times are the database's, so that the clocks of nodes do not matter. */
export function pollStore(sql: Sql) {
  const own = ({ tenantId, id, pollClaim }: Poll) =>
    sql`tenant_id = ${tenantId} and id = ${id} and poll_claim = ${pollClaim} and poll_claim <> ''`;
  return {
    /**
     * Claims due polls of shards for a time, a few of each tenant and none of busy ones, so that a tenant with many subscriptions
     * does not delay the others. Polls with an expired claim are due as well.
     */
    async claimDue(
      current: Fragment,
      { busyTenants, each, limit, token }: LeaseRequest,
      claimMs: number,
    ): Promise<Poll[]> {
      return sql<Poll[]>`
        with current as (${current}),
        oldest as (
          select tenant_id, id, poll_due_at from connector_trigger_subscriptions
          where shard in (select shard from current) and poll_due_at <= now() and tenant_id <> all(${busyTenants as string[]})
            and ${isServed(sql, sql`tenant_id`)}
          order by poll_due_at limit ${scannedMax}
        ),
        chosen as (
          select tenant_id, id from (
            select tenant_id, id, poll_due_at, row_number() over (partition by tenant_id order by poll_due_at) as nth
            from oldest) ranked
          where nth <= ${each} order by poll_due_at limit ${limit}
        ),
        due as (
          select tenant_id, id from connector_trigger_subscriptions
          where (tenant_id, id) in (select tenant_id, id from chosen) and poll_due_at <= now() for update skip locked)
        update connector_trigger_subscriptions subscription
        set poll_claim = ${token} || ':' || subscription.id, poll_due_at = ${fromNow(sql, claimMs)}
        from due where subscription.tenant_id = due.tenant_id and subscription.id = due.id
        returning subscription.tenant_id, subscription.id, environment_key, trigger_key, connection_id, input, scanned_at,
          scan, poll_failures, ready_at, intake_error, poll_claim`;
    },

    /** Extends a claim and locks the subscription until the transaction ends; false if the claim is lost. */
    async holdClaim(poll: Poll, claimMs: number): Promise<boolean> {
      const { count } = await sql`
        update connector_trigger_subscriptions set poll_due_at = ${fromNow(sql, claimMs)} where ${own(poll)}`;
      return count === 1;
    },

    /** Stores where a scan continues. The claim stays. */
    async storeScan(poll: Poll, scan: Scan): Promise<void> {
      await sql`
        update connector_trigger_subscriptions set scan = ${JSON.stringify(scan)}::text::json where ${own(poll)}`;
    },

    /** Ends a poll before its scan is complete; the scan continues after a pause. */
    async pauseScan(poll: Poll, waitMs: number): Promise<void> {
      await sql`
        update connector_trigger_subscriptions set poll_claim = '', poll_failures = 0, poll_due_at = ${fromNow(sql, waitMs)}
        where ${own(poll)}`;
    },

    /** Ends a complete scan. The next one looks back from its start. */
    async finishScan(
      poll: Poll,
      { startedAt, waitMs, ledgerS, now }: Readonly<{ startedAt: Date; waitMs: number; ledgerS: number; now: Date }>,
    ): Promise<void> {
      await sql`
        update connector_trigger_subscriptions set scan = null, scanned_at = ${startedAt}, ledger_s = ${ledgerS},
          ready_at = coalesce(ready_at, ${now}), poll_claim = '', poll_failures = 0, poll_due_at = ${fromNow(sql, waitMs)}
        where ${own(poll)}`;
    },

    /** Ends a failed poll. A scan whose position the provider refuses starts again from its first page. */
    async storeFailure(
      poll: Poll,
      { waitMs, restart }: { readonly waitMs: number; readonly restart: boolean },
    ): Promise<boolean> {
      const { count } = await sql`
        update connector_trigger_subscriptions set poll_claim = '', poll_failures = poll_failures + 1,
          poll_due_at = ${fromNow(sql, waitMs)} ${restart ? sql`, scan = null` : sql``}
        where ${own(poll)}`;
      return count === 1;
    },

    /** Delays all polls of a connection that are not running. */
    async delayConnection({ tenantId, connectionId }: Poll, waitMs: number): Promise<void> {
      await sql`
        update connector_trigger_subscriptions set poll_due_at = greatest(poll_due_at, ${fromNow(sql, waitMs)})
        where (tenant_id, id) in (
          select tenant_id, id from connector_trigger_subscriptions
          where tenant_id = ${tenantId} and connection_id = ${connectionId} and poll_due_at is not null and poll_claim = ''
          order by tenant_id, id for update)`;
    },
  };
}
