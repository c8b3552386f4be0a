import { createRoutingService } from "@client/gen/routing";
import { createWorkflowRunService } from "@client/gen/workflow-run";
import { nameOf, namesSettled } from "../core/names";
import { href } from "../core/router";
import { can } from "../core/session";
import { unlistedTransport as transport } from "../core/transport";
import { formatAgo, words } from "../ui/format";
import type { Found } from "./found";

const foundMax = 5;

/** Finds items and runs by the key that their caller gave them, newest first. */
export async function findByKey(key: string): Promise<Found[]> {
  const found = await Promise.all([findItems(key), findRuns(key)].map((each) => each.catch(() => [])));
  return found.flat();
}

async function findItems(key: string): Promise<Found[]> {
  if (!can("decision:read")) return [];
  const { items, nextCursor } = await createRoutingService(transport).listDecisions({ key, limit: foundMax }).page();
  // Decisions have no index by key: the service looks through the newest ones.
  if (items.length === 0 && nextCursor !== "") {
    return [
      {
        title: `Search older decisions for the key ${key}`,
        kind: "Decision",
        icon: "decisions",
        href: href("decisions", { key }),
      },
    ];
  }
  for (const { pool_id } of items) nameOf(pool_id, "pool");
  await namesSettled();
  return items.map(({ decision_id, queue_item_id, pool_id, type, outcome, decided_at }) => {
    const title = [key, type, nameOf(pool_id, "pool")?.name, formatAgo(decided_at, Date.now())]
      .filter(Boolean)
      .join(" · ");
    return queue_item_id !== "" && can("queue:read")
      ? {
          title,
          kind: "Item",
          icon: "queues",
          href: href(`queues/${pool_id}`, { open: queue_item_id }),
        }
      : {
          title: `${title} · ${words(outcome).toLowerCase()}`,
          kind: "Decision",
          icon: "decisions",
          href: href(`decisions/${decision_id}`),
        };
  });
}

async function findRuns(key: string): Promise<Found[]> {
  if (!can("workflow_run:read")) return [];
  const { items } = await createWorkflowRunService(transport).list({ run_key: key, limit: foundMax }).page();
  return items.map(({ id, definition_key, status, created_at }) => ({
    title: `${key} · ${definition_key} · ${words(status).toLowerCase()} · ${formatAgo(created_at, Date.now())}`,
    kind: "Run",
    icon: "workflows",
    href: href(`workflows/runs/${id}`),
  }));
}
