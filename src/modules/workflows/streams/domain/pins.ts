import { invalid } from "../../../../errors/index.ts";
import type { Redaction } from "./redaction.ts";

/** Settings that are fixed when a stream is created and never change. */
export interface Pins {
  /** The region in which records are stored, appended and acknowledged. */
  readonly metadata_home: string;
  /** Further regions from which records can be read. */
  readonly metadata_replicas: readonly string[];
  readonly object_regions: readonly string[];
  /** The regions from which payloads are sent to clients. */
  readonly egress_regions: readonly string[];
  /** The region whose nodes may log about the stream. */
  readonly log_region: string;
  readonly retention: { readonly max_age_s: number };
  readonly redaction: readonly Redaction[];
  readonly authorization: { readonly readers: readonly string[]; readonly writers: readonly string[] };
  readonly content_classes: readonly string[];
  readonly ceilings: Ceilings;
  readonly on_unread_full: "block" | "reject";
  /** Seconds after which a consumer that leaves records unread is removed; never if absent. */
  readonly consumer_idle_max_s?: number;
}

/** How much a stream may hold. */
export interface Ceilings {
  readonly unread_items: number;
  readonly unread_bytes: number;
  readonly total_items: number;
  readonly total_bytes: number;
}

const defaultCeilings: Ceilings = {
  unread_items: 10_000,
  unread_bytes: 64 * 1024 * 1024,
  total_items: 1_000_000,
  total_bytes: 1024 * 1024 * 1024,
};

const defaultMaxAgeS = 604_800;

/** Words in the names of classes that mean the hidden reasoning of a model. */
const reasoningWords: ReadonlySet<string> = new Set([
  "reasoning",
  "cot",
  "thinking",
  "thought",
  "thoughts",
  "scratchpad",
  "rationale",
  "deliberation",
]);

/** Completes the pins of a request. Throws if a content class is not allowed. */
export function toPins(wanted: Pins, ownRegion: string): Pins {
  const home = wanted.metadata_home || ownRegion;
  const { ceilings } = wanted;
  for (const [at, name] of wanted.content_classes.entries()) {
    if (meansHiddenReasoning(name)) {
      throw invalid(
        `pins.content_classes[${at}]`,
        "content_class",
        "must not be the hidden reasoning of a model, which is never stored (for example: message, tool_result)",
      );
    }
  }
  return {
    metadata_home: home,
    metadata_replicas: unique(wanted.metadata_replicas),
    object_regions: wanted.object_regions.length === 0 ? [home] : unique(wanted.object_regions),
    egress_regions: wanted.egress_regions.length === 0 ? [home] : unique(wanted.egress_regions),
    log_region: wanted.log_region || home,
    retention: { max_age_s: wanted.retention.max_age_s || defaultMaxAgeS },
    redaction: wanted.redaction,
    authorization: { readers: unique(wanted.authorization.readers), writers: unique(wanted.authorization.writers) },
    content_classes: wanted.content_classes.length === 0 ? ["data"] : unique(wanted.content_classes),
    ceilings: {
      unread_items: ceilings.unread_items || defaultCeilings.unread_items,
      unread_bytes: ceilings.unread_bytes || defaultCeilings.unread_bytes,
      total_items: ceilings.total_items || defaultCeilings.total_items,
      total_bytes: ceilings.total_bytes || defaultCeilings.total_bytes,
    },
    on_unread_full: wanted.on_unread_full || "block",
    // Absent without a limit, and so in the digest.
    ...(wanted.consumer_idle_max_s ? { consumer_idle_max_s: wanted.consumer_idle_max_s } : {}),
  };
}

/** Whether a class of content is the hidden reasoning of a model. */
export function meansHiddenReasoning(contentClass: string): boolean {
  const words = contentClass.toLowerCase().split(/[^a-z0-9]+/);
  return words.some((word) => reasoningWords.has(word)) || words.join("_").includes("chain_of_thought");
}

/** The class of a new record. Throws if it is not pinned. */
export function contentClassOf({ content_classes: pinned }: Pins, wanted: string): string {
  if (wanted === "" && pinned.length === 1) return pinned[0]!;
  if (pinned.includes(wanted)) return wanted;
  throw invalid("content_class", "content_class", `must be one of the pinned classes: ${pinned.join(", ")}`);
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
