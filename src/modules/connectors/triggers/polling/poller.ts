import { type Backoff, backoffMs } from "../../../../platform/backoff/backoff.ts";
import type { Json } from "../../../../platform/document/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import type { PlatformServices } from "../../../area.ts";
import {
  type Catalogue,
  type PageState,
  type PollSpec,
  type Provider,
  type Redactor,
  type Trigger,
  valueAt,
} from "../../manifests/index.ts";
import type { NewEvent } from "../domain/event.ts";
import { formatSince, itemKey, ledgerSeconds, windowStartMs } from "../domain/poll-window.ts";
import { insertEvents, toEventRow } from "../events/event-writer.ts";
import { eventOfItem } from "../intake/delivery-reader.ts";
import type { ProviderClient, ProviderFailure } from "../provider-client.ts";
import type { StoreStatus } from "../status-store.ts";
import type { TriggerMetrics } from "../trigger-metrics.ts";
import { type Poll, pollStore, type Scan } from "./poll-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly catalogue: Pick<Catalogue, "trigger">;
  readonly send: ProviderClient;
  readonly storeStatus: StoreStatus;
  readonly metrics: TriggerMetrics;
  /** Wakes the delivery of new events. */
  readonly wakeDelivery: () => void;
  readonly claimMs: number;
}

/** A trigger that is polled. */
interface Polled {
  readonly provider: Provider;
  readonly trigger: Trigger;
  readonly spec: PollSpec;
}

const retries: Backoff = { firstMs: 10_000, maxMs: 15 * 60_000, spread: [1, 1.2] };
/** The pages that one poll reads. A longer scan continues after a pause, so that one list cannot keep a node busy. */
const pagesPerPoll = 10;
const pauseMsMax = 10_000;
/** A scan ends after this many pages, so that a list without an end does not keep the service busy forever. */
const pagesPerScanMax = 1000;
/** A scan that is interrupted for longer starts again: the provider may have forgotten its position. */
const scanMsMax = 60 * 60_000;

/**
 * Creates the poller: it reads a list page by page, and commits every page with the position in the list. It throws only when
 * the signal aborts or the database fails.
 */
export function createPoller(dependencies: Dependencies) {
  const { db, clock, catalogue, send, storeStatus, metrics, wakeDelivery, claimMs } = dependencies;
  const store = pollStore(db.sql);

  async function scanPages(poll: Poll, polled: Polled, signal: AbortSignal): Promise<void> {
    const { spec, provider, trigger } = polled;
    const { tenantId, connectionId, input } = poll;
    const paginate = spec.paginate && { ...spec.paginate, items: spec.items, maxPages: Number.MAX_SAFE_INTEGER };
    let scan = usableScan(poll, clock.now());
    const startedAtMs = scan?.startedAtMs ?? clock.now();
    const since = sinceParameter(spec, windowStartMs(poll.scannedAt?.getTime(), startedAtMs, spec.lookbackS));
    for (let pages = 0; ; pages++) {
      if (pages === pagesPerPoll) {
        await store.pauseScan(poll, Math.min(spec.everyS * 1000, pauseMsMax));
        return metrics.poll("continued");
      }
      const page = scan && pageState(scan);
      const call = { tenantId, connectionId, provider, trigger, input, request: spec.request, parameters: since };
      const result = await send({ ...call, paginate, page, signal });
      if (result.class !== "ok") return storeFailure(poll, result, scan !== undefined);
      const { output, nextPage, retryAtMs } = result.answer;
      const all = valueAt(output, spec.items);
      if (!Array.isArray(all)) {
        const message = `The provider's answer has no list at ${spec.items}.`;
        return storeFailure(poll, { class: "malformed", message, mayHaveArrived: true }, scan !== undefined);
      }
      const items = (all as readonly Json[]).slice(page?.items.length ?? 0);
      const position = nextPage && { ...nextPage, startedAtMs, items: nextPage.items.length };
      if (!(await storePage(poll, polled, items, result.redactor, position))) return metrics.poll("lost");
      const waitMs = retryAtMs === undefined ? 0 : retryAtMs - clock.now();
      if (waitMs > 0) await store.delayConnection(poll, waitMs);
      if (position === undefined || position.pages >= pagesPerScanMax) {
        const error =
          position === undefined ? "" : `The list has more than ${pagesPerScanMax} pages. The others are not read.`;
        await finish(poll, spec, { startedAtMs, waitMs, error });
        return metrics.poll("complete");
      }
      scan = position;
      if (waitMs > 0) return store.pauseScan(poll, waitMs);
    }
  }

  /** Stores a page: its new items become events, unless the list is read for the first time. False if the claim is lost. */
  async function storePage(
    poll: Poll,
    polled: Polled,
    items: readonly Json[],
    redactor: Redactor,
    position: Scan | undefined,
  ): Promise<boolean> {
    const nowMs = clock.now();
    const { tenantId, id: subscriptionId, environmentKey } = poll;
    const rows = items.flatMap((item) =>
      pollEvents(polled, item, poll.input).map((event) =>
        toEventRow(
          { tenantId, subscriptionId, environmentKey, id: ulid(nowMs), receivedAt: new Date(nowMs) },
          { ...event, payload: redactor.value(event.payload) },
        ),
      ),
    );
    const stored = await db.transaction(async (tx) => {
      // The lock also keeps another node from committing the same page.
      if (!(await pollStore(tx).holdClaim(poll, claimMs))) return undefined;
      const ids = await insertEvents(tx, rows, poll.readyAt === null ? "baseline" : "events");
      if (position !== undefined) await pollStore(tx).storeScan(poll, position);
      return ids;
    });
    if (stored === undefined) return false;
    metrics.received("poll", stored.length, rows.length - stored.length);
    if (stored.length > 0) wakeDelivery();
    return true;
  }

  async function finish(
    poll: Poll,
    spec: PollSpec,
    { startedAtMs, waitMs, error }: Readonly<{ startedAtMs: number; waitMs: number; error: string }>,
  ): Promise<void> {
    await store.finishScan(poll, {
      startedAt: new Date(startedAtMs),
      waitMs: Math.max(spec.everyS * 1000, waitMs),
      ledgerS: ledgerSeconds(spec.lookbackS),
      now: new Date(clock.now()),
    });
    if (poll.intakeError !== error) await storeStatus(refOf(poll), { intakeError: error });
  }

  async function storeFailure(poll: Poll, fault: ProviderFailure, isContinued: boolean): Promise<void> {
    metrics.poll("failed");
    const nowMs = clock.now();
    const limitedMs = (fault.retryAtMs ?? nowMs) - nowMs;
    const waitMs = Math.max(backoffMs(retries, poll.pollFailures + 1, Math.random()), limitedMs);
    const restart = isContinued && restartClasses.has(fault.class);
    // First, so that whoever sees the failure also sees the delay of the other polls.
    if (fault.class === "rate_limited") await store.delayConnection(poll, waitMs);
    if (!(await store.storeFailure(poll, { waitMs, restart }))) return;
    const isShown = !temporaryClasses.has(fault.class) || poll.pollFailures + 1 >= failuresShown;
    if (isShown) await storeStatus(refOf(poll), { intakeError: `The provider cannot be polled: ${fault.message}` });
  }

  return async (poll: Poll, signal: AbortSignal): Promise<void> => {
    const found = await catalogue.trigger(poll.tenantId, poll.triggerKey);
    const spec = found?.trigger.poll;
    if (found !== undefined && spec !== undefined) return scanPages(poll, { ...found, spec }, signal);
    const message = `The trigger ${poll.triggerKey} no longer exists.`;
    return storeFailure(poll, { class: "failed", message, mayHaveArrived: false }, false);
  };
}

/** Classes after which the position of a scan may be the reason of the failure. */
const restartClasses: ReadonlySet<string> = new Set(["invalid_input", "not_found", "conflict", "malformed", "failed"]);
const temporaryClasses: ReadonlySet<string> = new Set(["unavailable", "rate_limited"]);
/** A temporary failure is shown when it occurs this often in a row. */
const failuresShown = 3;

function refOf({ tenantId, id }: Poll) {
  return { tenantId, subscriptionId: id };
}

function usableScan({ scan }: Poll, nowMs: number): Scan | undefined {
  return scan !== null && nowMs - scan.startedAtMs < scanMsMax ? scan : undefined;
}

/** The position of a scan in the form that requests and answers use. Earlier items count, but are not kept. */
function pageState({ pages, items, next }: Scan): PageState {
  return { pages, items: new Array<Json>(items).fill(null), next };
}

function sinceParameter({ since }: PollSpec, startMs: number) {
  if (since === undefined) return [];
  return [{ in: since.in, name: since.param, value: formatSince(startMs, since.format) }];
}

/** The event of an item; none if the filter does not match. Items without a key cannot be told apart and are left out. */
function pollEvents({ spec, trigger }: Polled, item: Json, input: Poll["input"]): readonly NewEvent[] {
  const key = itemKey(spec.key.map((pointer) => valueAt(item, pointer)));
  if (key === undefined) return [];
  return eventOfItem(trigger, item, input).map((event) => ({ ...event, key }));
}
