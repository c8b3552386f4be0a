import type { TenantId } from "../../../platform/access/index.ts";
import type { Fragment, RowImage, Sql } from "../../../platform/db/index.ts";
import type { Page, PageRows } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
import type { Json } from "../definitions/index.ts";
import type { EventFilter, Schedule, Trigger, TriggerCause, TriggerSettings } from "./domain/trigger.ts";

/** When a schedule needs attention. */
export interface SchedulePosition {
  readonly nextAt: Date | null;
  readonly dueAt: Date | null;
}

/** The filter of a list of triggers. Empty fields match all. */
export interface TriggerFilter {
  readonly environmentId: string;
  /** The names of a definition, its id and its key, because triggers have one or the other; empty for all. */
  readonly definitionNames: readonly string[];
  /** Only production, or only other environments; undefined for all. */
  readonly inProduction: boolean | undefined;
}

/** A change of a trigger. Undefined fields stay unchanged. */
export interface StoredChange extends Partial<TriggerSettings> {
  readonly cause?: TriggerCause | undefined;
  readonly enabled?: boolean | undefined;
  /** Set when the trigger starts from here: its events and times before now are not for it. */
  readonly position?: SchedulePosition | undefined;
}

interface Row extends Omit<Trigger, "cause"> {
  readonly kind: TriggerCause["kind"];
  readonly spec: Json;
  readonly eventTypes: readonly string[];
}

const triggers = recordTable<Row>("workflow_triggers", {
  fixed: "tenant_id id environment_id environment_key kind created_at",
  mutable: `name definition version spec event_types input run_key enabled disabled_reason generation next_at last_fired_at
    last_run_id last_skipped_at last_error consecutive_failures updated_at record_version`,
});

/** The SQL queries of triggers for callers. */
export function triggerStore(sql: Sql) {
  const { columns, count, find, lock, set, remove, listWhere } = triggers(sql);
  const one = (row: Row | undefined) => row && toTrigger(row);
  return {
    count,
    remove,
    find: async (tenantId: TenantId, id: string) => one(await find(tenantId, id)),
    /** Finds a trigger and locks it until the transaction ends. */
    lock: async (tenantId: TenantId, id: string) => one(await lock(tenantId, id)),

    /** Whether another trigger of the environment has a name. */
    async isNameTaken(tenantId: TenantId, environmentId: string, name: string, exceptId: string): Promise<boolean> {
      const rows = await sql`
        select from workflow_triggers where tenant_id = ${tenantId} and environment_id = ${environmentId}
          and name = ${name} and id <> ${exceptId}`;
      return rows.length > 0;
    },

    async insert(
      trigger: TriggerSettings &
        Pick<Trigger, "tenantId" | "id" | "environmentId" | "environmentKey" | "cause" | "enabled" | "createdAt">,
      shard: number,
      { nextAt, dueAt }: SchedulePosition,
    ): Promise<Trigger> {
      const { tenantId, id, environmentId, environmentKey, name, definition, version, input, runKey, enabled } =
        trigger;
      const { kind, specJson, eventTypes } = storedCause(trigger.cause);
      const [row] = await sql<Row[]>`
        insert into workflow_triggers (tenant_id, id, environment_id, environment_key, name, definition, version, kind,
          spec, event_types, input, run_key, enabled, disabled_reason, shard, next_at, due_at, created_at, updated_at)
        values (${tenantId}, ${id}, ${environmentId}, ${environmentKey}, ${name}, ${definition}, ${version}, ${kind},
          ${specJson}::text::json, ${eventTypes}::text[], ${JSON.stringify(input)}::text::json, ${runKey}, ${enabled},
          ${enabled ? "" : "manual"}, ${shard}, ${nextAt}, ${dueAt}, ${trigger.createdAt}, ${trigger.createdAt})
        returning ${columns}`;
      return toTrigger(row!);
    },

    /** The id of a trigger with this id, or with this name if no other has it. */
    async findId(tenantId: TenantId, idOrName: string): Promise<string | undefined> {
      const rows = await sql<{ id: string }[]>`
        select id from workflow_triggers where tenant_id = ${tenantId} and (id = ${idOrName} or name = ${idOrName}) limit 2`;
      return rows.length === 1 ? rows[0]!.id : rows.find(({ id }) => id === idOrName)?.id;
    },

    async list(
      tenantId: TenantId,
      { definitionNames, ...equal }: TriggerFilter,
      page: Page,
    ): Promise<PageRows<Trigger>> {
      const where =
        definitionNames.length === 0 ? undefined : sql`definition = any(${definitionNames as string[]}::text[])`;
      const { rows, ...rest } = await listWhere(tenantId, equal, page, { where });
      return { ...rest, rows: rows.map(toTrigger) };
    },

    /** Changes a trigger; undefined if the expected version is not current. */
    async update(
      tenantId: TenantId,
      id: string,
      change: StoredChange,
      expectedVersion: number | undefined,
      now: Date,
    ): Promise<Trigger | undefined> {
      const { name, definition, version, input, runKey, enabled, position } = change;
      const cause = change.cause && storedCause(change.cause);
      const assignments = sql`
        name = coalesce(${name ?? null}, name), definition = coalesce(${definition ?? null}, definition),
        version = coalesce(${version ?? null}::int, version), run_key = coalesce(${runKey ?? null}, run_key),
        input = coalesce(${input === undefined ? null : JSON.stringify(input)}::text::json, input),
        spec = coalesce(${cause?.specJson ?? null}::text::json, spec),
        event_types = coalesce(${cause === undefined ? null : (cause.eventTypes as string[])}::text[], event_types),
        enabled = coalesce(${enabled ?? null}::boolean, enabled)
        ${
          enabled === undefined
            ? sql``
            : sql`, disabled_reason = ${enabled ? "" : "manual"}, consecutive_failures = 0, since_stamp = default,
                since_snapshot = default`
        }
        ${
          position === undefined
            ? sql``
            : sql`, next_at = ${position.nextAt}, due_at = ${position.dueAt}, queued_at = null,
                generation = generation + 1`
        }`;
      const isExpected = sql`record_version = coalesce(${expectedVersion ?? null}::int, record_version)`;
      return one(await set(tenantId, id, now, assignments, isExpected));
    },

    /** Inserts a trigger from the image of its row. */
    async insertImage(image: RowImage): Promise<void> {
      const [before, after] = [
        sql`tenant_id, id, environment_id, environment_key, name, definition, version, kind, spec, event_types`,
        sql`run_key, enabled, disabled_reason, shard, generation, next_at, due_at, queued_at, open_run_ids, since_snapshot,
          since_stamp, last_fired_at, last_run_id, last_skipped_at, last_error, consecutive_failures, created_at, updated_at,
          record_version`,
      ];
      // In an image, an input that is the JSON value null looks like an absent one.
      await sql`
        insert into workflow_triggers (${before}, input, ${after})
        select ${before}, coalesce(input, 'null'::json), ${after}
        from json_populate_record(null::workflow_triggers, ${image}::text::json)`;
    },

    /** Records a run that a caller had the trigger start. */
    async recordFired({ tenantId, id }: Pick<Trigger, "tenantId" | "id">, runId: string, now: Date): Promise<void> {
      await sql`
        update workflow_triggers set last_fired_at = ${now}, last_run_id = ${runId},
          open_run_ids = case when kind = 'schedule' then array_append(open_run_ids, ${runId}) else open_run_ids end
        where tenant_id = ${tenantId} and id = ${id}`;
    },

    /** Creates a tenant's cursor, at the end of the log if no event trigger is enabled. Locks it until the commit. */
    async openCursor(tenantId: TenantId, shard: number): Promise<void> {
      const inUse = sql`exists (
        select from workflow_triggers where tenant_id = ${tenantId} and kind = 'event' and enabled)`;
      await sql`
        insert into workflow_trigger_cursors as stored (tenant_id, shard, stamp, id)
        values (${tenantId}, ${shard}, stamp_horizon(), '')
        on conflict (tenant_id) do update set
          stamp = case when ${inUse} then stored.stamp else excluded.stamp end,
          id = case when ${inUse} then stored.id else excluded.id end`;
    },
  };
}

export function triggerColumns(sql: Sql): Fragment {
  return triggers(sql).columns;
}

/** Converts a row to a trigger. */
export function toTrigger<R extends Row>({ kind, spec, eventTypes, ...row }: R) {
  const cause: TriggerCause =
    kind === "schedule"
      ? { kind, schedule: spec as unknown as Schedule }
      : { kind, event: { types: eventTypes, ...(spec as unknown as Pick<EventFilter, "condition">) } };
  return { ...row, cause };
}

export type { Row as TriggerRow };

function storedCause(cause: TriggerCause): { kind: string; specJson: string; eventTypes: readonly string[] } {
  if (cause.kind === "schedule") return { kind: "schedule", specJson: JSON.stringify(cause.schedule), eventTypes: [] };
  const { types, condition } = cause.event;
  return { kind: "event", specJson: JSON.stringify({ condition }), eventTypes: types };
}

/** Finds the names of triggers that start one of these definitions, given as keys and ids. */
export async function findTriggersOf(
  sql: Sql,
  tenantId: TenantId,
  definitions: readonly string[],
): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from workflow_triggers
    where tenant_id = ${tenantId} and definition = any(${definitions as string[]}) order by name limit 100`;
  return rows.map(({ name }) => name);
}
