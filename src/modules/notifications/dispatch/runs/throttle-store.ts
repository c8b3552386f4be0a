import type { Sql } from "../../../../platform/db/index.ts";
import type { NotificationRun } from "../domain/run.ts";

/** A run that reaches a throttle. */
export interface ThrottleEntry {
  readonly run: Pick<NotificationRun, "tenantId" | "workflowKey" | "subscriberId">;
  readonly stepKey: string;
  readonly throttleKey: string;
  readonly limit: number;
  readonly windowS: number;
  readonly now: Date;
}

export function throttleStore(sql: Sql) {
  return {
    /**
     * Counts a run unless the limit of the sliding window is reached; returns whether it may pass. The row stays locked
     * until the transaction ends.
     */
    async pass({ run, stepKey, throttleKey, limit, windowS, now }: ThrottleEntry): Promise<boolean> {
      const since = new Date(now.getTime() - windowS * 1000);
      const expiresAt = new Date(now.getTime() + windowS * 1000);
      const recent = sql`array(select at from unnest(throttle.passed_at) as at where at > ${since})`;
      const passed = await sql`
        insert into notification_throttles as throttle (tenant_id, workflow_key, step_key, subscriber_id, throttle_key,
          passed_at, expires_at)
        values (${run.tenantId}, ${run.workflowKey}, ${stepKey}, ${run.subscriberId}, ${throttleKey},
          array[${now}::timestamptz], ${expiresAt})
        on conflict (tenant_id, workflow_key, step_key, subscriber_id, throttle_key) do update set
          passed_at = ${recent} || ${now}::timestamptz, expires_at = excluded.expires_at
        where cardinality(${recent}) < ${limit}
        returning throttle_key`;
      return passed.length === 1;
    },
  };
}
