import type { Context } from "../../../chain/call.ts";
import { fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { requireFound } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import { enqueueJobs, type JobKind } from "../../../platform/jobs/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { orderedKeys } from "./domain/subscription.ts";
import { advanceImport, type TopicImport } from "./domain/topic-import.ts";
import { importStore } from "./import-store.ts";
import type { TopicService } from "./topic-service.ts";
import { topicStore } from "./topic-store.ts";

/** The job that carries out an import. */
const importKind = "topics.import_members";

/** Members that are added in one transaction. */
const batchSize = 500;
const attemptsMax = 10;

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly log: Pick<Log, "error">;
  readonly events: Pick<EventRecorder, "record">;
  readonly topics: Pick<TopicService, "getTopic" | "addKnown">;
  readonly wakeJobs: () => void;
}

export type ImportService = ReturnType<typeof createImportService>;

export function createImportService({ db, clock, log, events, topics, wakeJobs }: Dependencies) {
  /**
   * Imports the next batch of names; false when the import has ended. The members and the progress are committed together, so
   * that a crash repeats no batch.
   */
  async function importBatch(tenantId: TenantId, importId: string): Promise<boolean> {
    const nowMs = clock.now();
    const next = await db.transaction(async (tx) => {
      const store = importStore(tx);
      const current = await store.lockNext(tenantId, importId, batchSize);
      if (current === undefined) return undefined;
      const { names, contextKeys, topicKey } = current;
      const topic = await topicStore(tx).lockShared(tenantId, topicKey);
      if (topic === undefined) {
        const failed: TopicImport = { ...current, status: "failed", updatedAt: new Date(nowMs) };
        await store.advance(failed);
        return failed;
      }
      const context = { sql: tx, tenantId, nowMs, afterCommit: tx.afterCommit };
      const { unknownNames, ...counts } = await topics.addKnown(context, topic, names, contextKeys);
      const advanced = advanceImport(current, { size: names.length, unknownNames, ...counts }, new Date(nowMs));
      await store.advance(advanced);
      return advanced;
    });
    return next?.status === "running";
  }

  return {
    /** Accepts an import. Its names and its job are committed together. */
    async startImport(context: Context, key: string, names: readonly string[], contextKeys: readonly string[]) {
      const { sql, tenantId, nowMs, afterCommit } = context;
      const topic = await topics.getTopic(context, key);
      const distinct = [...new Set(names)];
      const now = new Date(nowMs);
      const accepted: TopicImport = {
        ...{ tenantId, id: ulid(nowMs), topicKey: topic.key, contextKeys: orderedKeys(contextKeys), status: "running" },
        ...{ total: distinct.length, processed: 0, added: 0, changed: 0, unchanged: 0, unknown: 0, unknownNames: [] },
        ...{ createdAt: now, updatedAt: now },
      };
      await importStore(sql).insert(accepted, distinct);
      const job = { tenantId, kind: importKind, payload: { importId: accepted.id }, runAt: now };
      await enqueueJobs(sql, [{ ...job, maxAttempts: attemptsMax }], nowMs);
      afterCommit(wakeJobs);
      return accepted;
    },

    async getImport({ sql, tenantId }: Context, key: string, id: string): Promise<TopicImport> {
      return requireFound(await importStore(sql).find(tenantId, key, id), "import");
    },

    /** Cancels an import. A batch that is being added is completed first. */
    async cancelImport(context: Context, key: string, id: string): Promise<TopicImport> {
      const { sql, tenantId, nowMs } = context;
      const store = importStore(sql);
      const current = requireFound(await store.lock(tenantId, key, id), "import");
      const { status, processed, total } = current;
      if (status === "cancelled") return current;
      if (status !== "running") throw fail("FAILED_PRECONDITION", { public: `The import has ${status}.` });
      const cancelled: TopicImport = { ...current, status: "cancelled", updatedAt: new Date(nowMs) };
      await store.advance(cancelled);
      await events.record(context, "topic.import.cancelled", key, { import_id: id, processed, total });
      return cancelled;
    },

    job: {
      kind: importKind,
      async handler({ tenantId, payload, attempt, signal }) {
        const { importId } = payload as { importId: string };
        try {
          while (await importBatch(tenantId as TenantId, importId)) signal.throwIfAborted();
        } catch (error) {
          signal.throwIfAborted();
          if (attempt < attemptsMax) throw error;
          log.error({ err: error, import_id: importId }, "an import of members failed too often");
          await importStore(db.sql).fail(tenantId as TenantId, importId, new Date(clock.now()));
        }
      },
    } satisfies JobKind,
  };
}
