/**
 * Queues: the work that was routed, until somebody has done it.
 *
 * item: one piece of work; it has the id of the decision that made it. lease: a worker's right to an item for a while;
 * its token fences the item. admission: what an item has to pass on its way in. group: all items that share a
 * constraint's key. sweep: what time brings: items fall due, leases and lives end.
 */

import type { TenantId } from "../../../platform/access/index.ts";
import type { Clock } from "../../../platform/clock/clock.ts";
import type { Cursors } from "../../../platform/cursor/index.ts";
import type { Database, Signals, Sql } from "../../../platform/db/index.ts";
import type { Egress } from "../../../platform/egress/index.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { EventLoopShares } from "../../../platform/scheduling/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { Admission } from "../admission/index.ts";
import type { DeadLetters } from "../dead-letters/index.ts";
import type { PoolReader } from "../pools/index.ts";
import { createFinishing } from "./completion/completion-service.ts";
import { createFollowers, type OutcomeSink } from "./completion/item-outcomes.ts";
import { explanationHandlers } from "./explanation/explanation-handler.ts";
import { createAcceptor } from "./intake/acceptor.ts";
import { createAdmissionTaking } from "./intake/constrained-acceptor.ts";
import { createReadmission } from "./intake/dead-letter-readmission.ts";
import { createLeasing, queueTopic } from "./leasing/lease-service.ts";
import { type Acceptable, workHandlers } from "./leasing/work-handler.ts";
import { createPushing, pushTopic } from "./push/push-dispatcher.ts";
import { queueHandlers } from "./queue-handler.ts";
import { createQueueService } from "./queue-service.ts";
import { forgetEndedJob } from "./sweep/ended-items-job.ts";
import { createSweeping } from "./sweep/item-sweeper.ts";
import { createLeftovers } from "./unassigned-items.ts";

export type { Finish, Finishing } from "./completion/completion-service.ts";
export type { OutcomeSink, WorkOutcome } from "./completion/item-outcomes.ts";
export type { ItemState } from "./domain/queue-item.ts";
export type { DecisionRow, ItemEventRow, ItemRow, Parcel } from "./intake/accept-store.ts";
export type { Acceptor } from "./intake/acceptor.ts";
export type { Proposal } from "./intake/proposal.ts";
export type { OfferedItem } from "./leasing/lease-store.ts";
export type { Leftovers } from "./unassigned-items.ts";

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly signals: Signals;
  readonly cursors: Cursors;
  readonly events: EventRecorder;
  readonly pools: PoolReader;
  readonly deadLetters: Pick<DeadLetters, "record" | "deleteResolved">;
  readonly outcomes: OutcomeSink;
  readonly acceptable: Acceptable;
  readonly admissionOf: Admission["requestOf"];
  readonly shares: EventLoopShares;
  readonly egress: Egress;
  /** The value of a tenant's secret; undefined when there is none of that name. */
  readonly secret: (sql: Sql, tenantId: TenantId, name: string) => Promise<string | undefined>;
  /** Told of pools in which items have become ready, maybe without a recipient. */
  readonly onReady: (tenantId: TenantId, poolId: string) => void;
  readonly retentionHours: number;
  readonly platformTenantId: () => string;
}

/** The door of the module. */
export type Queues = ReturnType<typeof createQueues>;

/** Makes the module. */
export function createQueues(parts: Parts) {
  const { db, clock, log, signals, cursors, events, pools, deadLetters, outcomes, acceptable, egress, secret } = parts;
  const wake = (tenantId: string, poolId: string, push = true) => {
    signals.wake(queueTopic(tenantId, poolId));
    // Whoever sends looks through all pools.
    if (push) signals.wake(pushTopic);
  };
  const wakeReady = (tenantId: string, poolId: string) => {
    wake(tenantId, poolId);
    parts.onReady(tenantId as TenantId, poolId);
  };
  const expect = (atMs: number) => sweeping.expect(atMs);
  const wakeDue = (tenantId: string, poolId: string) => {
    expect(clock.now());
    wake(tenantId, poolId);
  };

  const finishing = createFinishing({
    db,
    now: clock.now,
    random: Math.random,
    followers: createFollowers({ deadLetters, events, outcomes, wake: wakeReady, expect }),
  });
  const sweeping = createSweeping({ db, clock, log, pools, finishing, events, wake: wakeReady });
  const leasing = createLeasing({ db, signals });
  const pushing = createPushing({ db, clock, log, signals, pools, leasing, finishing, egress, secret });
  const acceptor = createAcceptor({ db, taking: createAdmissionTaking(db, wake), wake });
  const service = createQueueService({ pools, events, wake });

  return {
    handlers: {
      queues: queueHandlers(service, pools, cursors),
      work: workHandlers({ db, pools, leasing, finishing, acceptable }),
      explanations: explanationHandlers(pools),
    },
    jobs: [forgetEndedJob({ sql: db.sql, ...parts })],
    acceptor,
    readmission: createReadmission(parts.admissionOf, parts.shares),
    finishing,
    sweeping,
    pushing,
    leftovers: createLeftovers({ ...parts, wake: wakeReady, expect }),
    wake,
    wakeReady,
    wakeDue,
    expect,
    /** Ends the waits of workers, of a node that stops. */
    endWaits: leasing.endWaits,
    async idle(): Promise<void> {
      await Promise.all([acceptor.idle(), finishing.idle()]);
    },
  };
}
