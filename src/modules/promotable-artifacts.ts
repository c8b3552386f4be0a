import type { Context } from "../chain/call.ts";
import type { TenantId } from "../platform/access/index.ts";
import type { Canary, TargetKind } from "../platform/canary/index.ts";
import type { Sql } from "../platform/db/index.ts";

/** The kinds of artifacts that promotions activate. */
export type ArtifactKind = Canary["artifactKind"];

/** A version of a target. Its content never changes, and the digest is the SHA-256 of its content. */
export interface ArtifactVersion {
  readonly version: number;
  readonly sha256: string;
}

/** A version that can be promoted. */
export interface AuthoredVersion extends ArtifactVersion {
  /** The subjects of the callers that wrote it. */
  readonly authors: readonly string[];
}

/** The record that a version belongs to. */
export interface ArtifactTarget {
  readonly id: string;
  readonly name: string;
  /** The live version. Version 0 has no content. */
  readonly live: ArtifactVersion;
}

/** A change that a version makes, or why it cannot be activated. */
export interface ArtifactFinding {
  /** A stable code, such as `rules_changed`. */
  readonly code: string;
  readonly message: string;
}

/** The result of checking a version against its target. */
export interface ArtifactCheck {
  readonly impacts: readonly ArtifactFinding[];
  readonly blocking: readonly ArtifactFinding[];
}

/** The first outcome of a key: further outcomes of the same key are not independent of it. */
export interface KeyOutcome {
  readonly key: string;
  readonly success: boolean;
  readonly latencyMs: number | null;
  /** The side of a canary that it was on; empty if none was running. */
  readonly side: "canary" | "baseline" | "";
}

/** Which outcomes to read. */
export interface OutcomeQuery {
  readonly environmentId: string;
  readonly targetId: string;
  readonly since: Date;
  /** Only outcomes of work that this canary was applied to; undefined for all. */
  readonly canary: Pick<Canary, "candidateId" | "salt" | "sharePpm"> | undefined;
  readonly keysMax: number;
}

/** A request to replay recorded work with a version. */
export interface SimulationQuery {
  readonly environmentId: string;
  readonly targetId: string;
  readonly version: number;
  readonly from: Date;
  readonly until: Date;
  readonly itemsMax: number;
}

/** A number without a change and with it. */
export interface Shift {
  readonly before: number;
  readonly after: number;
}

/** How long items wait for a worker. */
export interface QueueWait {
  readonly items: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  /** Items that still wait at the end. */
  readonly waiting: number;
}

/** What a version would have changed about recorded work. Lists have the largest changes first, and a bounded length. */
export interface SimulationReport {
  readonly items: number;
  readonly changed: number;
  /** Items for which the live version has the recorded result. */
  readonly reproduced: number;
  /** The times of the first and the last item; undefined without items. */
  readonly firstAt: Date | undefined;
  readonly lastAt: Date | undefined;
  /** Whether more was recorded in the time range than was replayed. */
  readonly isCut: boolean;
  readonly causes: readonly { readonly cause: string; readonly items: number }[];
  readonly outcomes: readonly { readonly before: string; readonly after: string; readonly items: number }[];
  readonly examples: readonly {
    readonly id: string;
    readonly before: string;
    readonly after: string;
    readonly cause: string;
  }[];
  /** Of decisions. */
  readonly routing?: RoutingChanges;
  /** The first step of a run that differs, and how. */
  readonly steps?: readonly { readonly step: string; readonly change: string; readonly items: number }[];
}

/** What a version would have changed about routing. */
export interface RoutingChanges {
  readonly rules: readonly (Shift & { readonly ruleId: string; readonly name: string; readonly changed: number })[];
  /** The items of recipients, and how many they work on at once on average. */
  readonly recipients: readonly (Shift & {
    readonly recipientId: string;
    readonly recorded: number;
    readonly loadBefore: number;
    readonly loadAfter: number;
  })[];
  readonly reasons: readonly { readonly before: string; readonly after: string; readonly items: number }[];
  /** Items that are rejected, that nobody takes and that their pool does not queue, and duplicates. */
  readonly refused: Shift;
  /** Items that a constraint did not admit. */
  readonly constraints: readonly (Shift & { readonly constraint: string; readonly result: string })[];
  readonly waits: { readonly recorded: QueueWait; readonly before: QueueWait; readonly after: QueueWait };
  /** Undefined if no item has a cost. */
  readonly cost: (Shift & { readonly recorded: number }) | undefined;
}

/**
 * The artifacts of one kind. The module that owns the targets implements it, so that promotions follow all rules that callers
 * follow, and no other module writes its tables.
 */
export interface PromotableArtifacts {
  readonly kind: ArtifactKind;
  readonly targetKind: TargetKind;
  /** The scopes that a caller needs to change such a target directly. */
  readonly scopes: readonly string[];
  /** Finds a target of an environment by its id or name, with its live version. Undefined if there is none. */
  findTarget(context: Context, environmentId: string, ref: string): Promise<ArtifactTarget | undefined>;
  findVersion(context: Context, targetId: string, version: number): Promise<AuthoredVersion | undefined>;
  /** Checks a version against its target, without changes or external calls. */
  check(context: Context, environmentId: string, targetId: string, version: number): Promise<ArtifactCheck>;
  live(context: Context, targetId: string): Promise<ArtifactVersion>;
  /**
   * Locks a target until the transaction ends, and reads its live version. It locks nothing else, so that a caller can lock
   * several targets before it changes one.
   */
  lock(context: Context, targetId: string): Promise<ArtifactVersion>;
  /** Activates a version of a locked target. Afterwards its content is exactly that of the version. */
  activate(context: Context, targetId: string, version: number): Promise<void>;
  /** Starts a canary, on every node within a second. */
  startCanary(context: Context, canary: Canary): Promise<void>;
  /** Stops the canary of a candidate, on every node within a second. */
  stopCanary(context: Context, targetId: string, candidateId: string): Promise<void>;
  outcomes(sql: Sql, tenantId: TenantId, query: OutcomeQuery): Promise<readonly KeyOutcome[]>;
  /** Numbers about a target by name, such as `queue_depth`. Undefined if there are none. */
  readonly gauges?: (sql: Sql, tenantId: TenantId, targetId: string) => Promise<Readonly<Record<string, number>>>;
  /** Replays recorded work with a version, and stores nothing. Undefined if the kind cannot. */
  readonly simulate?: (context: Context, query: SimulationQuery) => Promise<SimulationReport>;
}
