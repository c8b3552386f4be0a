import { type Failure, fail } from "../../errors/index.ts";
import type { TenantId } from "../access/index.ts";
import { createRepeatedTask, type RepeatedTask } from "../jobs/index.ts";
import type { Log } from "../log/log.ts";
import type { Metrics } from "../telemetry/index.ts";
import type { Volume, VolumeBytes } from "./volume.ts";

type Level = "ok" | "filling" | "full";

interface Options {
  readonly volumes: readonly Volume[];
  /** The shares from which on a volume is filling up, and full. */
  readonly warnPercent: number;
  readonly fullPercent: number;
  /** How many bytes a tenant may store; 0 for no limit. */
  readonly tenantBytesMax: number;
  readonly estimateTenantBytes: () => Promise<ReadonlyMap<TenantId, number>>;
  readonly metrics: Pick<Metrics, "gauge">;
  readonly log: Pick<Log, "info" | "warn" | "error">;
}

/** What a call would add to what is stored. */
export interface Addition {
  readonly tenantId: TenantId | undefined;
  readonly isObject: boolean;
}

/** Knows how full the storage is. */
export interface StorageWatch {
  readonly tasks: readonly Pick<RepeatedTask, "start" | "stop">[];
  /** What is wrong with the volumes; undefined if nothing is. */
  describe(): string | undefined;
  /** Why a call may add nothing now; undefined if it may. */
  refusalOf(addition: Addition): Failure | undefined;
}

const volumeWaitMs = 10_000;
const tenantWaitMs = 60_000;
/** A volume on the edge of a level does not change it with every measurement. */
const slackPercent = 1;

/** Watches the volumes of this node and the tenants that store the most. Nothing of it is on the path of calls. */
export function createStorageWatch(options: Options): StorageWatch {
  const { volumes, tenantBytesMax, metrics, log } = options;
  const states = new Map<Volume, { level: Level; percent: number }>();
  let overLimit = new Map<TenantId, number>();
  const gauge = (name: string, help: string) => metrics.gauge({ name, help, labels: ["volume"], isShared: true });
  const used = gauge("storage_used_bytes", "Used bytes of each volume.");
  const free = gauge("storage_free_bytes", "Free bytes of each volume.");

  async function measure(volume: Volume): Promise<void> {
    const bytes = await volume.measure();
    used.set({ volume: volume.name }, bytes.used);
    free.set({ volume: volume.name }, bytes.free);
    const percent = percentOf(bytes);
    const before = states.get(volume)?.level ?? "ok";
    const level = levelOf(percent, before, options);
    states.set(volume, { level, percent });
    if (level === before) return;
    const details = { volume: volume.name, percent, freeBytes: bytes.free };
    if (level === "full") log.error(details, "a volume is full: calls that add data are refused until there is space");
    else if (level === "filling") log.warn(details, "a volume is filling up: free or add space");
    else log.info(details, "a volume has enough space again");
  }

  async function limitTenants(): Promise<void> {
    const stored = await options.estimateTenantBytes();
    const over = new Map([...stored].filter(([, bytes]) => bytes > tenantBytesMax));
    for (const [tenantId, bytes] of over) {
      if (!overLimit.has(tenantId)) log.warn({ tenantId, bytes }, "a tenant stores more than storage.tenant_bytes_max");
    }
    overLimit = over;
  }

  // A task each, because a disk of the network that hangs must not hide that another one is full.
  const volumeTasks = volumes.map((volume) =>
    createRepeatedTask({
      work: () => measure(volume),
      maxWaitMs: volumeWaitMs,
      onError: (error) => log.warn({ err: error, volume: volume.name }, "could not measure how full a volume is"),
    }),
  );
  const tenantTask = createRepeatedTask({
    work: limitTenants,
    maxWaitMs: tenantWaitMs,
    onError: (error) => log.warn({ err: error }, "could not estimate what tenants store"),
  });
  const fullVolume = (isObject: boolean) =>
    volumes.find((each) => (isObject || each.holds === "rows") && states.get(each)?.level === "full");

  return {
    tasks: [...volumeTasks, ...(tenantBytesMax > 0 ? [tenantTask] : [])],
    describe() {
      const bad = [...states].filter(([, { level }]) => level !== "ok");
      if (bad.length === 0) return undefined;
      return bad.map(([{ name }, { level, percent }]) => `${name} is ${percent} % full (${level})`).join(", ");
    },
    refusalOf({ tenantId, isObject }) {
      const volume = fullVolume(isObject);
      if (volume !== undefined) {
        return fail("STORAGE_FULL", {
          public: `The storage (${volume.name}) is almost full. Calls that add data are refused; work can be completed and deleted.`,
          headers: { "retry-after": String(volumeWaitMs / 1000) },
        });
      }
      const bytes = tenantId === undefined ? undefined : overLimit.get(tenantId);
      if (bytes === undefined) return undefined;
      return fail("STORAGE_QUOTA_EXCEEDED", {
        public: `The tenant stores about ${Math.round(bytes)} bytes and may store ${tenantBytesMax}. Delete what is no longer needed.`,
        extra: { bytes: Math.round(bytes), bytes_max: tenantBytesMax },
      });
    },
  };
}

/** As `df` shows it: without what is reserved for others. */
function percentOf({ used, free }: VolumeBytes): number {
  return used + free === 0 ? 100 : Math.floor((100 * used) / (used + free));
}

function levelOf(percent: number, before: Level, { warnPercent, fullPercent }: Options): Level {
  const reaches = (limit: number, isReached: boolean) => percent >= (isReached ? limit - slackPercent : limit);
  if (fullPercent < 100 && reaches(fullPercent, before === "full")) return "full";
  return reaches(warnPercent, before !== "ok") ? "filling" : "ok";
}
