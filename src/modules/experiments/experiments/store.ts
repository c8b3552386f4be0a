import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type Page, type PageRows, readKeyset } from "../../../platform/paging/index.ts";
import type { Analysis } from "../analysis/index.ts";
import type { Decision, Experiment, SlotRange } from "./domain/experiment.ts";

export interface ExperimentFilter {
  readonly status: string;
  readonly environmentId: string;
  readonly key: string;
  readonly layer: string;
  readonly inProduction: boolean | undefined;
}

/** The fields that a statement can change. */
export interface StoredChange
  extends Partial<Pick<Experiment, "name" | "description" | "design" | "status" | "phases">> {
  /** Null frees the slots. */
  readonly layerRanges?: readonly SlotRange[] | null | undefined;
  readonly startedAt?: Date | undefined;
  readonly endedAt?: Date | undefined;
  readonly decision?: Decision | undefined;
  readonly frozen?: FrozenResults | undefined;
}

/** The results of an ended experiment. */
export interface FrozenResults {
  readonly analysis: Analysis;
  readonly computedAt: string;
}

export function experimentStore(sql: Sql) {
  const columns = sql`
    tenant_id, id, environment_id, environment_key, key, name, description, status, design, salts, layer_ranges, phases,
    started_at, ended_at, decision, minima, last_verdict, created_at, updated_at, record_version`;
  const json = (value: unknown) => sql.json(value as never);
  return {
    async insert(experiment: Experiment): Promise<Experiment | undefined> {
      const { tenantId, id, environmentId, environmentKey, key, name, description, status } = experiment;
      const [row] = await sql<Experiment[]>`
        insert into experiments (tenant_id, id, environment_id, environment_key, key, name, description, status, design,
          salts, layer_key, created_at, updated_at)
        values (${tenantId}, ${id}, ${environmentId}, ${environmentKey}, ${key}, ${name}, ${description}, ${status},
          ${json(experiment.design)}, ${json(experiment.salts)}, ${experiment.design.layer?.key ?? ""},
          ${experiment.createdAt}, ${experiment.updatedAt})
        on conflict (tenant_id, environment_id, key) do nothing
        returning ${columns}`;
      return row;
    },

    /** Whether a tenant has at least this many experiments that have not ended. */
    async hasAtLeast(tenantId: TenantId, count: number): Promise<boolean> {
      const rows = await sql`
        select from experiments where tenant_id = ${tenantId} and status in ('draft', 'running', 'paused')
        offset ${count - 1} limit 1`;
      return rows.length > 0;
    },

    async find(tenantId: TenantId, id: string): Promise<Experiment | undefined> {
      const [row] = await sql<Experiment[]>`
        select ${columns} from experiments where tenant_id = ${tenantId} and id = ${id}`;
      return row;
    },

    /** The results of an ended experiment. */
    async findFrozen(tenantId: TenantId, id: string): Promise<FrozenResults | undefined> {
      const [row] = await sql<{ frozen: FrozenResults }[]>`
        select frozen from experiments where tenant_id = ${tenantId} and id = ${id} and frozen is not null`;
      return row?.frozen;
    },

    async findByKey(tenantId: TenantId, environmentId: string, key: string): Promise<Experiment | undefined> {
      const [row] = await sql<Experiment[]>`
        select ${columns} from experiments
        where tenant_id = ${tenantId} and environment_id = ${environmentId} and key = ${key}`;
      return row;
    },

    /** Which of these keys belong to experiments, in any environment. */
    async findKeys(tenantId: TenantId, keys: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await sql<{ key: string }[]>`
        select distinct key from experiments where tenant_id = ${tenantId} and key = any(${keys as string[]})`;
      return new Set(rows.map(({ key }) => key));
    },

    /** Finds an experiment and locks it until the transaction ends. */
    async lock(tenantId: TenantId, id: string): Promise<Experiment | undefined> {
      const [row] = await sql<Experiment[]>`
        select ${columns} from experiments where tenant_id = ${tenantId} and id = ${id} for update`;
      return row;
    },

    /** The slots of a layer that experiments of an environment have reserved. */
    async takenSlots(tenantId: TenantId, environmentId: string, layerKey: string): Promise<SlotRange[]> {
      const rows = await sql<{ layerRanges: SlotRange[] | null }[]>`
        select layer_ranges from experiments
        where tenant_id = ${tenantId} and environment_id = ${environmentId} and layer_key = ${layerKey}
          and layer_key <> '' and status in ('running', 'paused')`;
      return rows.flatMap(({ layerRanges }) => layerRanges ?? []);
    },

    /** Changes a locked experiment. */
    async update(tenantId: TenantId, id: string, change: StoredChange, now: Date): Promise<Experiment> {
      const { name, description, design, status, layerRanges, phases, startedAt, endedAt, decision, frozen } = change;
      const [row] = await sql<Experiment[]>`
        update experiments set
          name = ${name === undefined ? sql`name` : name},
          description = ${description === undefined ? sql`description` : description},
          design = ${design === undefined ? sql`design` : json(design)},
          layer_key = ${design === undefined ? sql`layer_key` : (design.layer?.key ?? "")},
          status = ${status === undefined ? sql`status` : status},
          layer_ranges = ${layerRanges === undefined ? sql`layer_ranges` : layerRanges === null ? sql`null` : json(layerRanges)},
          phases = ${phases === undefined ? sql`phases` : json(phases)},
          started_at = ${startedAt === undefined ? sql`started_at` : startedAt},
          ended_at = ${endedAt === undefined ? sql`ended_at` : endedAt},
          decision = ${decision === undefined ? sql`decision` : json(decision)},
          frozen = ${frozen === undefined ? sql`frozen` : json(frozen)},
          updated_at = ${now}, record_version = record_version + 1
        where tenant_id = ${tenantId} and id = ${id}
        returning ${columns}`;
      return row!;
    },

    async delete(tenantId: TenantId, id: string): Promise<void> {
      await sql`delete from experiments where tenant_id = ${tenantId} and id = ${id} and status = 'draft'`;
    },

    async list(tenantId: TenantId, filter: ExperimentFilter, page: Page): Promise<PageRows<Experiment>> {
      const { status, environmentId, key, layer, inProduction } = filter;
      const where = sql`tenant_id = ${tenantId}
        ${status === "" ? sql`` : sql`and status = ${status}`}
        ${environmentId === "" ? sql`` : sql`and environment_id = ${environmentId}`}
        ${key === "" ? sql`` : sql`and key = ${key}`}
        ${layer === "" ? sql`` : sql`and layer_key = ${layer}`}
        ${inProduction === undefined ? sql`` : sql`and (environment_key = 'production') = ${inProduction}`}`;
      return readKeyset<Experiment>(sql, { columns, table: "experiments", where }, page);
    },
  };
}
