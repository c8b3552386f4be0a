import { invalid, type Violation } from "../../../../errors/index.ts";
import { camelCase } from "../../../../platform/text/index.ts";
import type { AdmissionConfig, FallbackStep, PoolConfig, ReservationConfig } from "./pool-config.ts";
import type { Strategy } from "./strategy.ts";

type Constraint<K extends keyof AdmissionConfig> = Partial<NonNullable<AdmissionConfig[K]>>;

/** The explicitly set part of a pool config. Everything else follows the defaults, including future ones. */
export interface PoolSettings {
  readonly selection?: Partial<PoolConfig["selection"]>;
  readonly fallback?: Partial<Omit<PoolConfig["fallback"], "steps">> & {
    readonly steps?: readonly FallbackStepSetting[];
  };
  readonly queue?: Partial<PoolConfig["queue"]>;
  readonly lease?: Partial<PoolConfig["lease"]>;
  readonly retry?: Partial<PoolConfig["retry"]>;
  readonly dlq?: Partial<PoolConfig["dlq"]>;
  readonly outlier?: Partial<PoolConfig["outlier"]>;
  readonly admission?: { readonly [K in keyof AdmissionConfig]?: Constraint<K> };
  readonly reservation?: Partial<ReservationConfig>;
  readonly anomaly?: Partial<PoolConfig["anomaly"]>;
  readonly itemEvents?: boolean;
  readonly acceptsUnaddressed?: boolean;
}

/** A fallback step as it was set; an empty strategy inherits the strategy of the pool. */
type FallbackStepSetting = Omit<FallbackStep, "strategy"> & { readonly strategy: Strategy | "" };

const defaults: Omit<PoolConfig, "admission" | "reservation"> = {
  selection: { hashKey: "", choiceCount: 2, slowStartS: 60, skillChoice: "best_skilled" },
  fallback: { steps: [], onNoMatch: "queue", redirectPoolId: "" },
  queue: { maxDepth: 100_000, ttlS: 1_209_600, ageingS: 60, order: "aged_priority" },
  lease: { durationS: 30, heartbeatS: 10 },
  retry: {
    ...{ maxAttempts: 5, initialMs: 1000, factor: 2, maxMs: 60_000, jitter: 0.5 },
    ...{ itemMaxAttempts: 100, itemMaxMs: 604_800_000 },
  },
  dlq: { maxRetries: 3, retentionDays: 14 },
  outlier: { consecutiveFailures: 5, ejectS: 30, maxEjectedPct: 50 },
  anomaly: {
    enabled: true,
    methods: ["zscore", "iqr", "rate_change", "pattern"],
    actions: ["alert", "log"],
    zscoreThreshold: 3,
    iqrMultiplier: 1.5,
    rateChangeDrop: 0.5,
    windowS: 300,
    samplesMin: 30,
    cooldownS: 600,
    autoResume: false,
  },
  itemEvents: false,
  acceptsUnaddressed: false,
};

// Required fields have a default here that configViolations rejects.
const constraintDefaults: Required<AdmissionConfig> = {
  singleton: { key: "", mode: "skip", ttlS: 86_400 },
  debounce: { key: "", periodS: 5, maxDelayS: 60, take: "last" },
  throttle: { key: "", limit: 0, periodS: 0, burst: 0, cost: 1, onLimit: "delay" },
  concurrency: { key: "", limit: 0, scope: "pool" },
};

/** The limit of a pool that only rotates. */
const unlimited = { limit: 1_000_000 };

const reservationDefaults: ReservationConfig = { timeoutS: 30, reofferAfterS: 60 };

/** Returns the settings with defaults filled in. */
export function effectiveConfig(settings: PoolSettings, strategy: Strategy): PoolConfig {
  const steps = (settings.fallback?.steps ?? []).map((step) => ({ ...step, strategy: step.strategy || strategy }));
  return {
    selection: { ...defaults.selection, ...settings.selection },
    fallback: { ...defaults.fallback, ...settings.fallback, steps: steps.sort((a, b) => a.afterS - b.afterS) },
    queue: { ...defaults.queue, ...settings.queue },
    lease: effectiveLease(settings.lease ?? {}),
    retry: { ...defaults.retry, ...settings.retry },
    dlq: { ...defaults.dlq, ...settings.dlq },
    outlier: { ...defaults.outlier, ...settings.outlier },
    admission: effectiveAdmission(settings.admission ?? {}),
    ...(settings.reservation && { reservation: { ...reservationDefaults, ...settings.reservation } }),
    anomaly: { ...defaults.anomaly, ...settings.anomaly },
    itemEvents: settings.itemEvents ?? defaults.itemEvents,
    acceptsUnaddressed: settings.acceptsUnaddressed ?? defaults.acceptsUnaddressed,
  };
}

/** Derives a heartbeat below the lease duration if only a short duration is set. */
function effectiveLease({
  durationS = defaults.lease.durationS,
  heartbeatS = durationS > defaults.lease.heartbeatS
    ? defaults.lease.heartbeatS
    : Math.max(1, Math.floor(durationS / 3)),
}: Partial<PoolConfig["lease"]>): PoolConfig["lease"] {
  return { durationS, heartbeatS };
}

function effectiveAdmission({ singleton, debounce, throttle, concurrency }: NonNullable<PoolSettings["admission"]>) {
  return {
    ...(singleton && { singleton: { ...constraintDefaults.singleton, ...singleton } }),
    ...(debounce && { debounce: { ...constraintDefaults.debounce, ...debounce } }),
    ...(throttle && { throttle: { ...constraintDefaults.throttle, ...throttle } }),
    ...(concurrency && {
      concurrency: { ...constraintDefaults.concurrency, ...(concurrency.rotate && unlimited), ...concurrency },
    }),
  };
}

/** Merges a change into settings: sections field by field; lists are replaced. */
export function mergeSettings(settings: PoolSettings, change: PoolSettings): PoolSettings {
  return merge(settings, change) as PoolSettings;
}

type Section = Readonly<Record<string, unknown>>;

function merge(base: unknown, change: unknown): unknown {
  if (!isSection(base) || !isSection(change)) return change;
  const result: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(change)) result[name] = merge(base[name], value);
  return result;
}

function isSection(value: unknown): value is Section {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Removes the settings at the given paths (`fallback.steps`, `admission`); rejects an unknown path. */
export function resetSettings(settings: PoolSettings, paths: readonly string[]): PoolSettings {
  const result: Record<string, unknown> = { ...settings };
  for (const [index, path] of paths.entries()) {
    const [name, field] = path.split(".").map(camelCase) as [string, string | undefined];
    const section = defaultOf(name);
    if (section === undefined || (field !== undefined && !(isSection(section) && Object.hasOwn(section, field)))) {
      throw invalid(
        `reset_config[${index}]`,
        "config_path",
        "must be a section or field of the config (for example: lease or fallback.steps)",
      );
    }
    const current = result[name] as Section | undefined;
    if (current === undefined) continue;
    const { [field ?? ""]: _, ...rest } = current;
    // An empty reservation means offers with the defaults; without one there are no offers.
    const isUnset = field === undefined || (Object.keys(rest).length === 0 && name !== "reservation");
    if (isUnset) delete result[name];
    else result[name] = rest;
  }
  return result;
}

function defaultOf(name: string): unknown {
  const all: Section = { ...defaults, admission: constraintDefaults, reservation: reservationDefaults };
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

/** Returns violations that involve several fields of a config; single fields are validated by the schema. */
export function configViolations(config: PoolConfig, strategy: Strategy): Violation[] {
  const { fallback, queue, lease, retry, admission, reservation } = config;
  const { debounce, throttle } = admission;
  const wrong: [broken: boolean, field: string, rule: string, message: string][] = [
    [
      lease.heartbeatS >= Math.max(2, lease.durationS),
      "lease.heartbeat_s",
      "below",
      `must be less than lease.duration_s (${lease.durationS})`,
    ],
    [queue.order === "aged_priority" && queue.ageingS === 0, "queue.ageing_s", "at_least", zeroAgeing],
    [retry.maxMs < retry.initialMs, "retry.max_ms", "at_least", "must be at least retry.initial_ms"],
    [
      fallback.onNoMatch === "redirect_pool" && fallback.redirectPoolId === "",
      "fallback.redirect_pool_id",
      "required",
      "is required when fallback.on_no_match is redirect_pool",
    ],
    ...missingFields(admission).map(
      (field) => [true, `admission.${field}`, "required", "is required"] as (typeof wrong)[number],
    ),
    [
      debounce !== undefined && debounce.maxDelayS < debounce.periodS,
      "admission.debounce.max_delay_s",
      "at_least",
      "must be at least admission.debounce.period_s",
    ],
    [
      throttle !== undefined && throttle.limit > 0 && throttle.cost > throttle.limit + throttle.burst,
      "admission.throttle.cost",
      "at_most",
      "must be at most limit + burst; otherwise no item could pass",
    ],
    [
      reservation !== undefined && strategy === "first_accept",
      "reservation",
      "strategy",
      "must be absent in a first_accept pool, whose recipients choose items themselves; use another strategy",
    ],
  ];
  return wrong.flatMap(([broken, field, rule, message]) =>
    broken ? [{ field: `config.${field}`, rule, message }] : [],
  );
}

const zeroAgeing =
  "must be at least 1 in the order aged_priority; set queue.order to strict_priority or arrival for items that do not age";

function missingFields({ singleton, debounce, throttle, concurrency }: AdmissionConfig): string[] {
  const missing: string[] = [];
  for (const [kind, constraint] of Object.entries({ singleton, debounce, throttle, concurrency })) {
    if (constraint?.key === "") missing.push(`${kind}.key`);
  }
  if (throttle?.limit === 0) missing.push("throttle.limit");
  if (throttle?.periodS === 0) missing.push("throttle.period_s");
  if (concurrency?.limit === 0) missing.push("concurrency.limit");
  return missing;
}
