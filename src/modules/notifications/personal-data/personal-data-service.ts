import type { Context } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import { type Database, notFound, type Sql } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { enqueueJobs, type JobKind } from "../../../platform/jobs/index.ts";
import { selectWithinBytes } from "../../../platform/paging/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { inTenant } from "../../tenant-work.ts";
import type { Subscribers } from "../subscribers/index.ts";
import { type Person, type PersonalRecords, personalRecords } from "./personal-records.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly subscribers: Pick<Subscribers, "deactivate">;
  readonly wakeJobs: () => void;
}

const eraseKind = "subscribers.erase";
/** Records of one kind in an export, and about how many bytes they take. */
const exportedMax = 5000;
const exportedBytesMax = 4 * 2 ** 20;
/** Searching a long event log takes longer than a call may. */
const statementMs = 600_000;
const attemptsMax = 100;
/** Columns that say nothing about a person. */
const internalColumns = ["tenant_id", "ciphertext", "key_id", "lease_token", "token_hash", "cookie_hash", "state_hash"];

interface ErasePayload {
  readonly erasureId: string;
  readonly person: Omit<Person, "tenantId">;
}

/** Exports and erases what is stored about a subscriber. */
export function createPersonalDataService({ db, clock, events, subscribers, wakeJobs }: Dependencies) {
  const eraseJob: JobKind = {
    kind: eraseKind,
    async handler({ payload, tenantId, signal }) {
      const { erasureId, person: named } = payload as ErasePayload;
      // Jobs are imported with their tenant, and a payload must not name another one.
      const person: Person = { ...named, tenantId };
      let count = 0;
      for (const { table } of personalRecords(db.sql, person)) {
        signal.throwIfAborted();
        count += await db.transaction(async (tx) => {
          await tx`select set_config('statement_timeout', ${String(statementMs)}, true)`;
          return erase(tx, person, personalRecords(tx, person).find((each) => each.table === table)!);
        });
      }
      await inTenant({ db, clock }, tenantId as TenantId, (context) =>
        events.record(context, "subscriber.erased", erasureId, { count }),
      );
    },
  };

  return {
    jobs: [eraseJob],

    async exportSubscriber({ sql, tenantId }: Context, id: string) {
      const person = await findPerson(sql, tenantId, id);
      const kinds = [];
      for (const { table, where } of personalRecords(sql, person).toReversed()) {
        const found = sql`
          select record, pg_column_size(record) as bytes, count(*) over () as total from (
            select to_jsonb(${sql(table)}) - ${internalColumns}::text[] as record
            from ${sql(table)} where tenant_id = ${tenantId} and ${where} limit ${exportedMax + 1}) found`;
        const newestFirst = sql`record ->> 'id' desc nulls last`;
        const rows = await sql<{ record: Record<string, unknown>; total: string }[]>`
          select record, total from (${selectWithinBytes(sql, found, newestFirst, exportedBytesMax)}) bounded
          order by ${newestFirst}`;
        const records = rows.slice(0, exportedMax).map(({ record }) => record);
        if (records.length > 0)
          kinds.push({ name: table, records, truncated: Number(rows[0]!.total) > records.length });
      }
      return kinds;
    },

    /** Stops all messages to a subscriber, and schedules the erasure of its records. */
    async eraseSubscriber(context: Context, id: string): Promise<string> {
      const { sql, tenantId, nowMs } = context;
      const person = await findPerson(sql, tenantId, id);
      await subscribers.deactivate(context, id);
      const erasureId = ulid(nowMs);
      const { tenantId: _, ...named } = person;
      const payload: ErasePayload = { erasureId, person: named };
      const job = { tenantId, kind: eraseKind, runAt: new Date(nowMs), payload, maxAttempts: attemptsMax };
      await enqueueJobs(sql, [job], nowMs);
      context.afterCommit(wakeJobs);
      return erasureId;
    },
  };
}

async function erase(sql: Sql, { tenantId }: Person, { table, where, erasure }: PersonalRecords): Promise<number> {
  const rows = sql`tenant_id = ${tenantId} and ${where}`;
  const { count } =
    erasure.kind === "delete"
      ? await sql`delete from ${sql(table)} where ${rows}`
      : await sql`update ${sql(table)} set ${erasure.assignments} where ${rows}`;
  return count;
}

async function findPerson(sql: Sql, tenantId: TenantId, id: string): Promise<Person> {
  const person = await sql<{ externalId: string; addresses: string[] }[]>`
    select external_id, array(
        select distinct lower(address) from (
          select unnest(array[email, phone]) union all
          select identity from notification_endpoints where tenant_id = ${tenantId} and subscriber_id = ${id}) known(address)
        where address <> '') as addresses
    from notification_subscribers where tenant_id = ${tenantId} and id = ${id}`.first();
  if (person === undefined) throw notFound("subscriber");
  return { tenantId, id, ...person };
}
