import type { Context } from "../../../chain/call.ts";
import { fail, invalid } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { lockFor, requireFound, type Sql, type TenantChanges, updateRefusal } from "../../../platform/db/index.ts";
import { newStamps } from "../../../platform/records/index.ts";
import {
  compileTemplate,
  type Engine,
  repairTemplate,
  reportTemplateErrors,
} from "../../../platform/templates/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import {
  inclusionProblem,
  missingText,
  type PartialContent,
  partialsMax,
  type TemplatePartial,
} from "./domain/partial.ts";
import { partialStore } from "./store.ts";

/** Finds what includes a partial besides other partials, such as "notification workflow order.paid". */
export type FindPartialUses = (sql: Sql, tenantId: TenantId, key: string, limit: number) => Promise<readonly string[]>;

export interface PartialParts {
  readonly events: EventRecorder;
  readonly changes: TenantChanges;
  readonly findUses: FindPartialUses;
}

const usesShownMax = 5;

export type PartialService = ReturnType<typeof createPartialService>;

export function createPartialService({ events, changes, findUses }: PartialParts) {
  return {
    async getPartial({ sql, tenantId }: Context, key: string): Promise<TemplatePartial> {
      return requireFound(await partialStore(sql).find(tenantId, key), "partial");
    },

    /** Creates or replaces a partial. One that does not exist has version 0. */
    async upsertPartial(context: Context, key: string, given: PartialContent, expectedVersion: number | undefined) {
      const { sql, tenantId, nowMs } = context;
      const includes = includesOf(given);
      const store = partialStore(sql);
      await lockFor(sql, "partials", tenantId);
      const others = (await store.links(tenantId)).filter((other) => other.key !== key);
      const problem = inclusionProblem({ key, engine: given.engine, includes }, others);
      if (problem !== undefined) throw invalid("body", "template.partial_missing", problem);
      await requireEngine(context, key, given.engine);
      const content = { ...given, includes };
      const stored = { tenantId, key, ...content, ...newStamps(nowMs) };
      const created = expectedVersion ? undefined : await store.insertUnlessTaken(stored);
      if (created !== undefined && others.length >= partialsMax) {
        throw fail("FAILED_PRECONDITION", {
          public: `A tenant may have at most ${partialsMax} partials; delete one first.`,
        });
      }
      const partial = created ?? (await store.update(tenantId, key, content, expectedVersion, new Date(nowMs)));
      if (partial === undefined) {
        throw updateRefusal((await store.find(tenantId, key)) ?? { recordVersion: 0 }, "partial");
      }
      await changes.invalidate(context);
      const type = created === undefined ? "notification.partial.updated" : "notification.partial.created";
      await events.record(context, type, key, { engine: partial.engine });
      return partial;
    },

    /** Deletes a partial that nothing includes. */
    async deletePartial(context: Context, key: string): Promise<TemplatePartial> {
      const { sql, tenantId } = context;
      const store = partialStore(sql);
      await lockFor(sql, "partials", tenantId);
      // Lock it before its uses are read, so that no concurrent transaction can start to include it.
      const partial = requireFound(await store.lock(tenantId, key), "partial");
      await refuseUses(context, key, "deleted");
      await store.remove(tenantId, key);
      await changes.invalidate(context);
      await events.record(context, "notification.partial.deleted", key, { engine: partial.engine });
      return partial;
    },

    /** Throws when a template includes a partial that does not exist. Those that exist cannot be deleted meanwhile. */
    async requirePartials(sql: Sql, tenantId: TenantId, field: string, engine: Engine, names: ReadonlySet<string>) {
      if (names.size === 0) return;
      const known = await partialStore(sql).hold(tenantId, engine, [...names]);
      const missing = [...names].find((name) => !known.has(name));
      if (missing !== undefined) throw invalid(field, "template.partial_missing", missingText(missing, engine));
    },
  };

  /** A partial that something includes keeps its language. */
  async function requireEngine(context: Context, key: string, engine: Engine): Promise<void> {
    const current = await partialStore(context.sql).lock(context.tenantId, key);
    if (current !== undefined && current.engine !== engine)
      await refuseUses(context, key, "written in another language");
  }

  async function refuseUses({ sql, tenantId }: Context, key: string, action: string): Promise<void> {
    const partials = (await partialStore(sql).links(tenantId)).filter(({ includes }) => includes.includes(key));
    const uses = [
      ...partials.map((each) => `the partial ${each.key}`),
      ...(await findUses(sql, tenantId, key, usesShownMax + 1)),
    ];
    if (uses.length === 0) return;
    const shown = uses.slice(0, usesShownMax).join(", ") + (uses.length > usesShownMax ? " and others" : "");
    throw fail("IN_USE", { public: `The partial cannot be ${action}: it is included by ${shown}.` });
  }
}

/** The partials that a partial includes; throws when its template is invalid. */
function includesOf({ engine, body }: PartialContent): string[] {
  const read = () => [...compileTemplate(engine, body).partials].sort();
  return reportTemplateErrors("body", read, () => repairTemplate(engine, body));
}
