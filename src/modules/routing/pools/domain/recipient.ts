import { invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { PoolId } from "./pool.ts";

/** A recipient's id. */
export type RecipientId = string & { readonly __id: "recipient" };

/** Where a recipient stands as its owner set it. Ejection comes from outcomes and ends by itself; it is no status here. */
export type RecipientStatus = "active" | "paused" | "draining" | "offline";

/** How work reaches a recipient: it fetches it, it is sent it, or it is only named. */
export type DeliveryMode = "pull" | "push" | "decision_only";

/** Someone or something that takes work. */
export interface Recipient extends Stamps {
  readonly tenantId: TenantId;
  readonly id: RecipientId;
  readonly poolId: PoolId;
  readonly name: string;
  readonly status: RecipientStatus;
  /** Its share among others; 0 excludes it. */
  readonly weight: number;
  /** How many items it works on at once; 0 means no bound. */
  readonly capacity: number;
  /** Lower is taken first. */
  readonly priority: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly skills: Readonly<Record<string, number>>;
  /** What an item costs here, until outcomes tell. */
  readonly cost: number;
  readonly delivery: {
    readonly mode: DeliveryMode;
    readonly url: string;
    /** Name of the secret that signs what is pushed. */
    readonly secretRef: string;
  };
  /** Since when its owner lets it be chosen; slow start counts from here. */
  readonly availableSince: Date;
}

/** What its work taught about a recipient, and what it works on now. */
export interface RecipientLoad {
  readonly inFlight: number;
  readonly lastAssignedAt: Date | null;
  readonly ejectedUntil: Date | null;
  readonly deprioritizedUntil: Date | null;
}

/** The load of a recipient that never had any work. */
export const noLoad: RecipientLoad = {
  inFlight: 0,
  lastAssignedAt: null,
  ejectedUntil: null,
  deprioritizedUntil: null,
};

/** Whether a recipient is left out now because it kept failing. One that gets no work anyway is not ejected. */
export function isEjected({ status }: Recipient, { ejectedUntil }: RecipientLoad, nowMs: number): boolean {
  return status === "active" && ejectedUntil !== null && ejectedUntil.getTime() > nowMs;
}

/** What is asked for a new recipient. */
export type NewRecipient = Pick<
  Recipient,
  "name" | "status" | "weight" | "capacity" | "priority" | "attributes" | "skills" | "cost" | "delivery"
>;

/** What an update may change. */
export interface RecipientChange extends Partial<Omit<NewRecipient, "delivery">> {
  readonly delivery?: Partial<Recipient["delivery"]>;
}

/** How many recipients a pool may have. */
export const recipientsMax = 50_000;

const attributesBytesMax = 16_384;

/** Refuses what no single field's rules tell: attributes that are too large, a push that leads nowhere. */
export function checkRecipient(
  { attributes, delivery }: Pick<NewRecipient, "attributes" | "delivery">,
  /** Why a URL can never be called. */
  urlRefusal: (url: string) => string | undefined,
  path = "",
): void {
  if (Buffer.byteLength(JSON.stringify(attributes)) > attributesBytesMax) {
    throw invalid(`${path}attributes`, "max_bytes", `must have at most ${attributesBytesMax} bytes as JSON`);
  }
  if (delivery.mode === "push" && delivery.url === "") {
    throw invalid(`${path}delivery.url`, "required", "is required where delivery.mode is MODE_PUSH");
  }
  const refusal = delivery.url === "" ? undefined : urlRefusal(delivery.url);
  if (refusal !== undefined) throw invalid(`${path}delivery.url`, "url", refusal);
}

/** The index of the first recipient whose name one before it has; -1 when all have their own. */
export function repeatedName(recipients: readonly Pick<NewRecipient, "name">[]): number {
  const names = new Set<string>();
  return recipients.findIndex(({ name }) => names.size === names.add(name).size);
}
