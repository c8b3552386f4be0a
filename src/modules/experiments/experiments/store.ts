import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { Page } from "../../../platform/paging/index.ts";
import { recordTable } from "../../../platform/records/index.ts";
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

/** The columns that lists and lookups do not read. */
interface UnreadColumns {
  readonly layerKey: string;
  readonly frozen?: FrozenResults;
}

const experiments = recordTable<Experiment, UnreadColumns>("experiments", {
  fixed: "tenant_id id environment_id environment_key key salts minima last_verdict created_at",
  mutable: `name description status design layer_ranges phases started_at ended_at decision updated_at record_version`,
  internal: "layer_key frozen",
});

const layerKeyOf = ({ layer }: Experiment["design"]) => layer?.key ?? "";

export function experimentStore(sql: Sql) {
  const { columns, insertUnlessTaken, find, lock, update, listWhere } = experiments(sql);
  return {
    find,
    lock,

    /** Inserts an experiment; undefined if its key is taken. */
    insert: (experiment: Experiment) => insertUnlessTaken({ ...experiment, layerKey: layerKeyOf(experiment.design) }),

    /** Whether a tenant has at least this many experiments that have not ended. */
    async hasAtLeast(tenantId: TenantId, count: number): Promise<boolean> {
      const rows = await sql`
        select from experiments where tenant_id = ${tenantId} and status in ('draft', 'running', 'paused')
        offset ${count - 1} limit 1`;
      return rows.length > 0;
    },

    /** The results of an ended experiment. */
    async findFrozen(tenantId: TenantId, id: string): Promise<FrozenResults | undefined> {
      const [row] = await sql<{ frozen: FrozenResults }[]>`
        select frozen from experiments where tenant_id = ${tenantId} and id = ${id} and frozen is not null`;
      return row?.frozen;
    },

    findByKey: (tenantId: TenantId, environmentId: string, key: string) =>
      sql<Experiment[]>`
        select ${columns} from experiments
        where tenant_id = ${tenantId} and environment_id = ${environmentId} and key = ${key}`.first(),

    /** Which of these keys belong to experiments, in any environment. */
    async findKeys(tenantId: TenantId, keys: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await sql<{ key: string }[]>`
        select distinct key from experiments where tenant_id = ${tenantId} and key = any(${keys as string[]})`;
      return new Set(rows.map(({ key }) => key));
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
      const layerKey = change.design && layerKeyOf(change.design);
      return (await update(tenantId, id, { ...change, layerKey }, undefined, now))!;
    },

    async delete(tenantId: TenantId, id: string): Promise<void> {
      await sql`delete from experiments where tenant_id = ${tenantId} and id = ${id} and status = 'draft'`;
    },

    list: (tenantId: TenantId, { layer, ...equal }: ExperimentFilter, page: Page) =>
      listWhere(tenantId, equal, page, { where: layer === "" ? undefined : sql`layer_key = ${layer}` }),
  };
}
