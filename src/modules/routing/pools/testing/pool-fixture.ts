import { CreatePoolRequestSchema } from "../../../../../gen/service/api/pool_pb.ts";
import { CreateRecipientRequestSchema } from "../../../../../gen/service/api/recipient_pb.ts";
import { CreateRuleRequestSchema } from "../../../../../gen/service/api/rule_pb.ts";
import { announcedChanges } from "../../../../../test/harness/changes.ts";
import {
  type ContextChoice,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../../test/harness/context.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { urlRefusal } from "../../../../platform/egress/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { closeEmptyQueue } from "../../queues/index.ts";
import { createPools, recipientLoadStore } from "../index.ts";

/** Creates the pools module on its own database, with helpers for tests. */
export async function createPoolFixture() {
  const db = await testDatabase();
  const events = recordedEvents();
  const { changes, standing } = announcedChanges();
  const pools = createPools({
    db,
    changes,
    events,
    loads: recipientLoadStore,
    closeQueue: closeEmptyQueue,
    urlRefusal,
  });
  const { handlers } = pools;
  let serial = 0;
  const freshName = () => `name ${serial++}`;

  return {
    db,
    events,
    changes,
    standing,
    pools,
    handlers,

    /** Creates a tenant with the environments production and staging. */
    async newTenant(): Promise<TenantId> {
      const tenantId = freshTenant();
      const now = new Date();
      const rows = [
        { tenant_id: tenantId, id: ulid(Date.now()), key: "production", mode: "live" },
        { tenant_id: tenantId, id: ulid(Date.now()), key: "staging", mode: "sandbox" },
      ].map((row) => ({ ...row, name: row.key, status: "active", created_at: now, updated_at: now }));
      await db.sql`insert into environments ${db.sql(rows)}`;
      return tenantId;
    },

    async environmentId(tenantId: TenantId, key: string): Promise<string> {
      const [row] = await db.sql<{ id: string }[]>`
        select id from environments where tenant_id = ${tenantId} and key = ${key}`;
      return row!.id;
    },

    async createPool(choice: ContextChoice, request: object = {}) {
      const named = { name: freshName(), ...request };
      return (await perform(db, choice, handlers.pools.createPool, CreatePoolRequestSchema, named)).pool!;
    },

    async createRecipient(choice: ContextChoice, poolId: string, request: object = {}) {
      const named = { name: freshName(), ...request, poolId };
      const response = await perform(
        db,
        choice,
        handlers.recipients.createRecipient,
        CreateRecipientRequestSchema,
        named,
      );
      return response.recipient!;
    },

    async createRule(choice: ContextChoice, poolId: string, request: object = {}) {
      const named = { name: freshName(), action: { type: "require" }, ...request, poolId };
      return (await perform(db, choice, handlers.rules.createRule, CreateRuleRequestSchema, named)).rule!;
    },

    /** Inserts an item of a pool in the given state. */
    async putItem(tenantId: TenantId, poolId: string, id: string, state: string, recipientId = ""): Promise<void> {
      await db.sql`
        insert into queue_items (tenant_id, id, pool_id, recipient_id, state, priority, rank, expires_at, type, key,
          attributes, requirements, payload, decided_priority, outcome, decided_for, snapshot_digest, seed, evidence)
        values (${tenantId}, ${id}, ${poolId}, ${recipientId}, ${state}, 0, 0, now() + interval '1 day', 't', '', '{}', '{}', '{}',
          0, 'routed', ${recipientId}, '', 0, '{}')`;
    },
  };
}
