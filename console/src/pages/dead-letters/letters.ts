import { createDeadLetterService, type DeadLetter } from "@client/gen/dead-letter";
import { createNotificationService, type NotificationDeadLetter } from "@client/gen/notification";
import { createWorkflowDeadLetterService, type WorkflowDeadLetter } from "@client/gen/workflow-dead-letter";
import { environmentFilter } from "../../core/environments";
import { type ListQuery, mergeLists, useList } from "../../core/query";
import { can } from "../../core/session";
import { transport } from "../../core/transport";

const itemLetters = createDeadLetterService(transport);
const runLetters = createWorkflowDeadLetterService(transport);
const notifications = createNotificationService(transport);

/** What failed: an item of a pool, a run of a workflow, or a message of a notification. */
export type LetterKind = "item" | "run" | "message";

/** Something that failed for good. */
export interface Letter {
  readonly kind: LetterKind;
  /** The id of the item, the run or the dead letter of the message. */
  readonly id: string;
  /** The kind and the id of the record by whose name it is shown. */
  readonly record: { readonly kind: string; readonly id: string };
  /** The pool of an item. */
  readonly poolId: string;
  /** The workflow of a run, or the channel of a message. */
  readonly source: string;
  readonly state: string;
  readonly code: string;
  readonly detail: string;
  readonly retries: number;
  readonly failedAt: string | undefined;
}

/** The states of each kind, by what they mean to people. */
const states = {
  failed: { item: "failed", run: "open", message: "open" },
  retrying: { item: "retrying", run: "replayed", message: "redriving" },
  quarantined: { item: "quarantined", run: "quarantined", message: undefined },
} as const;

export type LetterState = keyof typeof states;
/** The states besides failed, which is shown first. */
export const otherStates: readonly LetterState[] = ["retrying", "quarantined"];

/** Stands for all pools. */
export const allPools = "-";

interface Filter {
  readonly kind: LetterKind | undefined;
  readonly poolId: string;
  readonly state: LetterState;
  readonly errorCode: string | undefined;
}

/** The kinds that the caller may see. */
export function readableKinds(): readonly LetterKind[] {
  const kinds: LetterKind[] = [];
  if (can("dlq:read")) kinds.push("item");
  if (can("workflow_dlq:read")) kinds.push("run");
  if (can("notification:read")) kinds.push("message");
  return kinds;
}

/** One list of all kinds, the latest failures first. Messages belong to no environment. */
export function useLetters({ kind, poolId, state, errorCode: error_code }: Filter): ListQuery<Letter> {
  const isRead = (one: LetterKind) => readableKinds().includes(one) && (kind === undefined || kind === one);
  const { item, run, message } = states[state];
  const ofItems = { pool_id: poolId, state: item, ...environmentFilter() };
  const ofRuns = { state: run, error_code, ...environmentFilter() };
  const items = useList(
    isRead("item") ? `dead items ${JSON.stringify(ofItems)}` : undefined,
    (page) => itemLetters.list({ ...page, ...ofItems }),
    { live: ["queue.item.dead_lettered", "dead_letter."] },
  );
  const runs = useList(
    isRead("run") ? `dead runs ${JSON.stringify(ofRuns)}` : undefined,
    (page) => runLetters.list({ ...page, ...ofRuns }),
    { live: ["workflow."] },
  );
  const messages = useList(
    isRead("message") && message !== undefined ? `dead messages ${message}` : undefined,
    (page) => notifications.listDeadLetters({ ...page, status: message! }),
    { live: ["notification."] },
  );
  const rows = [...items.rows.map(ofItem), ...runs.rows.map(ofRun), ...messages.rows.map(ofMessage)];
  const latestFirst = rows.toSorted((a, b) => (b.failedAt ?? "").localeCompare(a.failedAt ?? ""));
  return { ...mergeLists([items, runs, messages]), rows: latestFirst };
}

function ofItem({ queue_item_id: id, pool_id, state, reason_code, attempts, ...letter }: DeadLetter): Letter {
  return {
    kind: "item",
    id,
    record: { kind: "queue_item", id },
    poolId: pool_id,
    source: "",
    state,
    code: reason_code,
    detail: attempts.at(-1)?.reason ?? "",
    retries: letter.retry_count,
    failedAt: letter.last_failed_at,
  };
}

function ofRun({ run_id: id, definition_key, version, state, step, ...letter }: WorkflowDeadLetter): Letter {
  return {
    kind: "run",
    id,
    record: { kind: "workflow_run", id },
    poolId: "",
    source: `${definition_key} · v${version}`,
    state,
    code: letter.error_code,
    detail: [step, letter.error_message].filter(Boolean).join(": "),
    retries: letter.replay_count,
    failedAt: letter.failed_at,
  };
}

function ofMessage({ id, delivery_id, transaction_id, channel, status, ...letter }: NotificationDeadLetter): Letter {
  return {
    kind: "message",
    id,
    record: { kind: "notification_delivery", id: delivery_id || transaction_id },
    poolId: "",
    source: channel,
    state: status,
    code: letter.failure_code,
    detail: letter.failure_detail,
    retries: letter.redrive_count,
    failedAt: letter.last_failed_at,
  };
}

const reason = "from the console";

/** Tries letters again: one call for each pool, and one for each run and message. Stops at the first that is refused. */
export async function retryLetters(letters: readonly Letter[]): Promise<void> {
  for (const [pool_id, queue_item_ids] of itemsByPool(letters)) await itemLetters.retry({ pool_id, queue_item_ids });
  for (const { kind, id } of letters) {
    if (kind === "run") await runLetters.replay({ run_id: id, reason });
    if (kind === "message") await notifications.redriveDeadLetter({ dead_letter_id: id, reason });
  }
}

/** Keeps items and runs from retries, or releases them. Messages cannot be quarantined. */
export async function quarantineLetters(letters: readonly Letter[], release: boolean): Promise<void> {
  for (const [pool_id, queue_item_ids] of itemsByPool(letters)) {
    await itemLetters.quarantine({ pool_id, queue_item_ids, release });
  }
  for (const { kind, id: run_id } of letters) {
    if (kind === "run") await (release ? runLetters.release({ run_id }) : runLetters.quarantine({ run_id, reason }));
  }
}

function itemsByPool(letters: readonly Letter[]): ReadonlyMap<string, string[]> {
  const items = letters.filter(({ kind }) => kind === "item");
  const pools = Map.groupBy(items, ({ poolId }) => poolId);
  return new Map([...pools].map(([poolId, own]) => [poolId, own.map(({ id }) => id)]));
}
