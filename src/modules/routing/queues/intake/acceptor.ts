import type { TenantId } from "../../../../platform/access/index.ts";
import { type Batcher, createBatcher, type Database } from "../../../../platform/db/index.ts";
import { admitted } from "../../admission/index.ts";
import { shardCount } from "../transitions/queue-counts.ts";
import { insertParcels } from "./accept-store.ts";
import type { AdmissionTaking } from "./constrained-acceptor.ts";
import type { Proposal } from "./proposal.ts";

/** Takes items in: what was answered is committed, together with many others'. */
export interface Acceptor {
  /** "duplicate" when the call's idempotency key was recorded before; nothing was kept then. */
  accept(proposal: Proposal): Promise<"accepted" | "duplicate">;
  idle(): Promise<void>;
}

interface Parts {
  readonly db: Database;
  readonly taking: AdmissionTaking;
  /** Called after the commit, with the pools that have new work, and whether some of it is to be sent. */
  readonly wake: (tenantId: TenantId, poolId: string, push: boolean) => void;
}

/** What a statement costs on its own is shared by so many items. */
const byItems = { lanes: 2, batchMax: 500, concurrentMin: 100, weigh: ({ items }: Proposal) => items.length };
/** Calls with so many items are kept apart from the others, which would wait for their statements. */
const bulkMin = 50;

/** Keeps calls in few statements: those with many items in statements of their own. */
function createSizedBatcher<Out>(flush: (proposals: Proposal[]) => Promise<Out[]>): Batcher<Proposal, Out> {
  const few = createBatcher<Proposal, Out>({ ...byItems, flush });
  const many = createBatcher<Proposal, Out>({ ...byItems, flush });
  return {
    run: (proposal) => (proposal.items.length < bulkMin ? few : many).run(proposal),
    async idle() {
      await Promise.all([few.idle(), many.idle()]);
    },
  };
}

/** Makes this node's acceptor. */
export function createAcceptor({ db, taking, wake }: Parts): Acceptor {
  let turn = 0;
  const nextShard = () => turn++ % shardCount;

  const free = createSizedBatcher<"accepted" | "duplicate">(async (proposals) => {
    const parcels = proposals.map(({ items, settle }) =>
      settle(items.map(({ admission }) => (admission === undefined ? undefined : admitted))),
    );
    const refused = await insertParcels(db.sql, parcels, nextShard());
    return told(proposals, refused);
  });

  // Apart from the others: what has to look at its groups, or waits for those who share them, keeps nobody else waiting.
  const constrained = createSizedBatcher<"accepted" | "duplicate">(async (proposals) => {
    const refused = await taking.take(proposals, nextShard());
    return told(proposals, refused);
  });

  function told(proposals: readonly Proposal[], refused: ReadonlySet<number>): ("accepted" | "duplicate")[] {
    const pools = new Map<string, { tenantId: TenantId; push: boolean }>();
    const answers = proposals.map(({ tenantId, items }, at) => {
      if (refused.has(at)) return "duplicate";
      for (const { poolId, push } of items)
        pools.set(poolId, { tenantId, push: push || pools.get(poolId)?.push === true });
      return "accepted";
    });
    for (const [poolId, { tenantId, push }] of pools) wake(tenantId, poolId, push);
    return answers;
  }

  return {
    accept: (proposal) =>
      (proposal.items.some(({ admission }) => admission !== undefined && admission.refs.length > 0)
        ? constrained
        : free
      ).run(proposal),
    async idle() {
      await Promise.all([free.idle(), constrained.idle()]);
    },
  };
}
