import type { Context } from "../../../../chain/call.ts";
import { fail, invalid } from "../../../../errors/index.ts";
import { notFound, unchangedRecord, updateRefusal } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { changedFields, definedFields, isEmptyChange } from "../../../../platform/records/index.ts";
import type { PoolId } from "../domain/pool.ts";
import {
  checkRecipient,
  findRepeatedName,
  type NewRecipient,
  type Recipient,
  type RecipientChange,
  type RecipientId,
  recipientsMax,
} from "../domain/recipient.ts";
import { pauseEventData, type RecipientPause } from "../domain/recipient-pause.ts";
import type { PoolServiceParts } from "../pool-access.ts";
import { pauseStore } from "./pause-store.ts";
import { recipientStore } from "./recipient-store.ts";

interface Dependencies extends PoolServiceParts {
  /** Returns the reason why a URL must not be called, or undefined if it may be called. */
  readonly urlRefusal: (url: string) => string | undefined;
}

/** Why a caller pauses a recipient, and for how long; 0 until somebody resumes it. */
interface PauseOptions {
  readonly reason: string;
  readonly forS: number;
}

export type RecipientService = ReturnType<typeof createRecipientService>;

export function createRecipientService({ access, events, urlRefusal }: Dependencies) {
  async function find({ sql, tenantId }: Context, id: string): Promise<Recipient> {
    const recipient = await recipientStore(sql).find(tenantId, id);
    if (recipient === undefined) throw notFound("recipient");
    return recipient;
  }

  async function getRecipient(context: Context, id: string): Promise<Recipient> {
    const recipient = await find(context, id);
    await access.read(context, recipient.poolId);
    return recipient;
  }

  async function add(context: Context, poolId: string, recipients: readonly NewRecipient[]): Promise<Recipient[]> {
    const { sql, tenantId, nowMs } = context;
    const pool = await access.change(context, poolId);
    const store = recipientStore(sql);
    if ((await store.count(tenantId, pool.id)) + recipients.length > recipientsMax) {
      throw fail("FAILED_PRECONDITION", { public: `A pool can have at most ${recipientsMax} recipients.` });
    }
    const named = recipients.map((recipient) => ({ ...recipient, id: ulid(nowMs) as RecipientId }));
    const now = new Date(nowMs);
    const paused = named.filter(({ status }) => status === "paused");
    const pauses = paused.map(({ id }) => ({ ...requestedPause(context), recipientId: id }));
    await pauseStore(sql).save(tenantId, pool.id, pauses);
    return store.insert(tenantId, pool, named, now);
  }

  async function change(
    context: Context,
    id: string,
    { delivery, ...fields }: RecipientChange,
    { expectedVersion, pause }: { readonly expectedVersion?: number | undefined; readonly pause?: RecipientPause },
  ): Promise<Recipient> {
    const { sql, tenantId, nowMs } = context;
    const { poolId } = await find(context, id);
    const pool = await access.change(context, poolId);
    // Read again under the lock of the pool.
    const current = await find(context, id);
    const wanted = {
      ...current,
      ...definedFields(fields),
      delivery: changedDelivery(current.delivery, delivery),
    };
    // Unchanged fields are not validated again.
    if (fields.attributes !== undefined || delivery !== undefined) checkRecipient(wanted, urlRefusal);
    const now = new Date(nowMs);
    const becomesAvailable = wanted.status === "active" && current.status !== "active";
    const availableSince = becomesAvailable ? now : current.availableSince;
    const changed = await recipientStore(sql).update(
      current,
      pool,
      { ...wanted, availableSince },
      expectedVersion,
      now,
    );
    if (changed === undefined) throw updateRefusal(current, "recipient");
    if (fields.status === "paused") {
      // A pause on request replaces any other one.
      if (pause !== undefined) await pauseStore(sql).remove(tenantId, changed.id);
      const saved = { ...(pause ?? requestedPause(context)), recipientId: changed.id };
      await pauseStore(sql).save(tenantId, pool.id, [saved]);
    } else if (fields.status !== undefined) await pauseStore(sql).remove(tenantId, changed.id);
    return changed;
  }

  return {
    getRecipient,

    async createRecipient(context: Context, poolId: string, input: NewRecipient): Promise<Recipient> {
      checkRecipient(input, urlRefusal);
      const [created] = await add(context, poolId, [input]);
      const { id, name } = created!;
      await events.record(context, "recipient.created", id, { pool_id: created!.poolId, name });
      return created!;
    },

    async batchCreateRecipients(context: Context, poolId: string, inputs: readonly NewRecipient[]) {
      for (const [index, input] of inputs.entries()) checkRecipient(input, urlRefusal, `recipients[${index}].`);
      const repeated = findRepeatedName(inputs);
      if (repeated >= 0) throw invalid(`recipients[${repeated}].name`, "unique", "must be unique within the request");
      const created = await add(context, poolId, inputs);
      const { sql, nowMs, principal } = context;
      const entries = created.map(({ tenantId, id, poolId: pool_id, name }) => ({
        tenantId,
        type: "recipient.created" as const,
        subject: id,
        data: { pool_id, name },
      }));
      await events.recordMany(sql, entries, nowMs, principal.subject);
      return created;
    },

    async updateRecipient(context: Context, id: string, wanted: RecipientChange, expectedVersion: number | undefined) {
      const { delivery = {}, ...fields } = wanted;
      if (isEmptyChange(fields) && isEmptyChange(delivery)) {
        return unchangedRecord(await getRecipient(context, id), expectedVersion, "recipient");
      }
      const changed = await change(context, id, wanted, { expectedVersion });
      const data = { pool_id: changed.poolId, fields: changedFields(wanted) };
      await events.record(context, "recipient.updated", changed.id, data);
      return changed;
    },

    /**
     * Pauses a recipient, for some seconds or until somebody resumes it. An automatic pause becomes one of the caller. A
     * repeated pause changes nothing unless one of both has an end.
     */
    async pauseRecipient(context: Context, id: string, options: PauseOptions): Promise<Recipient> {
      const current = await getRecipient(context, id);
      const known =
        current.status === "paused" ? await pauseStore(context.sql).find(context.tenantId, current.id) : undefined;
      const pause = requestedPause(context, options);
      const isRepeated = current.status === "paused" && known?.cause !== "anomaly";
      if (isRepeated && pause.until === null && (known?.until ?? null) === null) return current;
      const changed = await change(context, id, { status: "paused" }, { pause });
      await events.record(context, "recipient.paused", changed.id, pauseEventData(changed.poolId, pause));
      return changed;
    },

    async resumeRecipient(context: Context, id: string): Promise<Recipient> {
      const current = await getRecipient(context, id);
      if (current.status === "active") return current;
      const changed = await change(context, id, { status: "active" }, {});
      const data = { pool_id: changed.poolId, cause: "request", actor: context.principal.subject };
      await events.record(context, "recipient.resumed", changed.id, data);
      return changed;
    },

    async deleteRecipient(context: Context, id: string): Promise<Recipient> {
      const { sql, tenantId, nowMs } = context;
      const { poolId, id: recipientId } = await find(context, id);
      const pool = await access.change(context, poolId);
      const removed = await recipientStore(sql).remove(tenantId, pool, recipientId, new Date(nowMs));
      if (removed === undefined) throw notFound("recipient");
      await pauseStore(sql).remove(tenantId, recipientId);
      await events.record(context, "recipient.removed", recipientId, { pool_id: poolId, name: removed.name });
      return removed;
    },

    /** Returns the id of a pool that the caller may read. */
    async requirePoolId(context: Context, poolId: string): Promise<PoolId> {
      return (await access.read(context, poolId)).id;
    },
  };
}

function requestedPause(
  { principal, nowMs }: Context,
  { reason, forS }: PauseOptions = { reason: "", forS: 0 },
): RecipientPause {
  const until = forS === 0 ? null : new Date(nowMs + forS * 1000);
  return { cause: "request", reason, actor: principal.subject, anomalyId: "", since: new Date(nowMs), until };
}

/** The delivery after a change. An action without a key removes the current one. */
function changedDelivery(current: Recipient["delivery"], change: RecipientChange["delivery"]): Recipient["delivery"] {
  const { action, ...delivery } = { ...current, ...definedFields(change ?? {}) };
  return action === undefined || action.key === "" ? delivery : { ...delivery, action };
}
