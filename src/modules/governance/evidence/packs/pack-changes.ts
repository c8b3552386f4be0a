import type { Context } from "../../../../chain/call.ts";
import { requireEnvironmentAccess } from "../../../../platform/access/index.ts";
import { notFound, type Sql } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { databaseNow } from "../database-time.ts";
import { type Pack, packDigest } from "../domain/pack.ts";
import { type PackCall, requirePackCall } from "../domain/pack-states.ts";
import type { GateService, PackContent } from "../gates/gate-service.ts";
import { receiptStore } from "../receipts/receipt-store.ts";
import { packStore } from "./pack-store.ts";

/** A pack that a transaction has locked, and the time of the database since then. */
export interface LockedPack {
  readonly pack: Pack;
  readonly now: Date;
}

interface Dependencies {
  readonly events: EventRecorder;
  readonly gates: GateService;
}

/** Reads, locks and changes packs. */
export type PackChanges = ReturnType<typeof createPackChanges>;

/** Creates the access to packs that all services of the module share. */
export function createPackChanges({ events, gates }: Dependencies) {
  /** Returns a pack of an environment, which is named by its id or its key. */
  function requireAccess(context: Context, pack: Pack | undefined, environment: string): Pack {
    if (pack === undefined || (pack.environmentId !== environment && pack.environmentKey !== environment)) {
      throw notFound("evidence pack");
    }
    requireEnvironmentAccess(context, pack.environmentKey);
    return pack;
  }

  async function readContent(sql: Sql, pack: Pack): Promise<PackContent> {
    const artifacts = await packStore(sql).readArtifacts(pack.tenantId, pack.id);
    const receipts = await receiptStore(sql).readHeads(pack.tenantId, pack.id, pack.revision);
    return { pack, artifacts, receipts };
  }

  async function record(
    context: Context,
    type: Parameters<EventRecorder["record"]>[1],
    { id, environmentId }: Pick<Pack, "id" | "environmentId">,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    await events.record(context, type, id, { ...data, environment_id: environmentId });
  }

  return {
    record,
    readContent,

    async find(context: Context, environmentId: string, id: string): Promise<Pack> {
      return requireAccess(context, await packStore(context.sql).find(context.tenantId, id), environmentId);
    },

    /** Locks a pack for a call that changes it. Throws if its status does not allow the call. */
    async lock(context: Context, environmentId: string, id: string, call: PackCall): Promise<LockedPack> {
      const pack = requireAccess(context, await packStore(context.sql).lock(context.tenantId, id), environmentId);
      requirePackCall(pack.status, call);
      return { pack, now: await databaseNow(context.sql) };
    },

    /**
     * Stores a changed pack with its digest and the state of its gate, and records an event if the gate opened or closed. A new
     * artifact or receipt is stored before.
     */
    async commit(context: Context, before: LockedPack, changed: Pack): Promise<Pack> {
      const { sql } = context;
      const { now } = before;
      const content = await readContent(sql, changed);
      const gate = await gates.evaluatePack(sql, content, now.getTime());
      const digest = packDigest(changed, content.artifacts, content.receipts);
      // Nothing depends on the gate of an archived pack, so no event follows from it.
      const isFinal = changed.status === "archived";
      const stored = await packStore(sql).save(
        { ...changed, digest, gateState: isFinal ? "closed" : gate.state },
        isFinal ? undefined : gate.end,
        now,
      );
      if (!isFinal && gate.state !== before.pack.gateState) {
        const candidate = { candidate_id: stored.attachment?.candidateId ?? "", digest: gate.digest };
        if (gate.state === "open") {
          await record(context, "evidence.gate.opened", stored, {
            ...candidate,
            valid_until: gate.end!.at.toISOString(),
          });
        } else {
          const reasons = new Set(gate.findings.flatMap(({ verdict }) => (verdict === "satisfied" ? [] : verdict)));
          await record(context, "evidence.gate.closed", stored, { ...candidate, reasons: [...reasons].sort() });
        }
      }
      return stored;
    },
  };
}
