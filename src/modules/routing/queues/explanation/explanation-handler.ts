import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { AdmissionService } from "../../../../../gen/service/api/admission_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { notFound } from "../../../../platform/db/index.ts";
import { fromConstraint, type GroupRef, readGroupStates } from "../../admission/index.ts";
import type { PoolReader } from "../../pools/index.ts";
import { fromAssignment } from "../assignment-message.ts";
import { readDependencies } from "../dependencies/dependency-store.ts";
import { withDetails } from "../item-detail-store.ts";
import { type Explanation, explain } from "./explanation.ts";
import { type AdmittedItem, countAhead, findAdmittedItem } from "./explanation-store.ts";

/** The constraints that hold an item, and the number of items ahead of it. */
export interface ItemExplanation extends Explanation {
  readonly item: AdmittedItem;
  readonly ahead: number;
  /** The items that it was routed to wait for, in the order of the request. */
  readonly dependencies: readonly ExplainedDependency[];
}

/** An item that another one waits for. The state is empty if it is not stored any more. */
export interface ExplainedDependency {
  readonly queueItemId: string;
  readonly poolId: string;
  readonly state: string;
  readonly survivorId: string;
}

export function explanationHandlers(
  pools: Pick<PoolReader, "requireKnownPool">,
): Pick<Handlers<typeof AdmissionService>, "explainAdmission"> {
  return {
    async explainAdmission(context, { poolId, queueItemId }) {
      const explanation = await explainItem(pools, context, poolId, queueItemId);
      return { explanation: fromExplanation(explanation, context.nowMs) };
    },
  };
}

/** Explains what holds an item. */
export async function explainItem(
  pools: Pick<PoolReader, "requireKnownPool">,
  context: Context,
  poolId: string,
  itemId: string,
): Promise<ItemExplanation> {
  const { sql, tenantId, nowMs } = context;
  const snapshot = await pools.requireKnownPool(context, poolId);
  const item = await findAdmittedItem(sql, tenantId, poolId, itemId);
  if (item === undefined) throw notFound("queue item");
  const refs = refsOf(item);
  const status = { ...item, dueAtMs: item.dueAt?.getTime(), refs };
  // All items of a deleted pool have ended, so no constraint applies to them.
  const constraints = snapshot?.pool.config.admission ?? {};
  const explanation = explain(status, constraints, await readGroupStates(sql, tenantId, refs), nowMs);
  const { constraint } = explanation;
  const ahead = constraint === undefined ? 0 : await countAhead(sql, tenantId, constraint, item);
  return { ...explanation, item, ahead, dependencies: await explainDependencies(context, itemId) };
}

async function explainDependencies({ sql, tenantId }: Context, itemId: string): Promise<ExplainedDependency[]> {
  const [details] = await withDetails(sql, tenantId, [{ id: itemId }]);
  const ids = details!.after?.ids ?? [];
  const keys = ids.map((id) => ({ tenantId, id }));
  const states = new Map((await readDependencies(sql, keys)).map((state) => [state.id, state]));
  return ids.map((queueItemId) => {
    const { poolId = "", state = "", lastId = queueItemId } = states.get(queueItemId) ?? {};
    return { queueItemId, poolId, state, survivorId: lastId === queueItemId ? "" : lastId };
  });
}

function refsOf({ singletonGroup, debounceGroup, throttleGroup, concurrencyGroup }: AdmittedItem): GroupRef[] {
  const refs: GroupRef[] = [
    { kind: "singleton", groupId: singletonGroup },
    { kind: "debounce", groupId: debounceGroup },
    { kind: "throttle", groupId: throttleGroup },
    { kind: "concurrency", groupId: concurrencyGroup },
  ];
  return refs.filter(({ groupId }) => groupId !== "");
}

function fromExplanation(explanation: ItemExplanation, nowMs: number) {
  const { item, constraint, notBeforeMs, ahead, verdicts, dependencies } = explanation;
  return {
    queueItemId: item.id,
    status: item.state,
    constraintKind: constraint?.kind ?? "",
    groupId: constraint?.groupId ?? "",
    retryAfterS: notBeforeMs === undefined ? 0 : Math.max(0, notBeforeMs - nowMs) / 1000,
    notBefore: notBeforeMs === undefined ? undefined : timestampFromMs(notBeforeMs),
    ahead,
    survivorId: item.supersededById,
    verdicts: verdicts.map(fromConstraint),
    assignment: fromAssignment(item),
    dependencies,
  };
}
