import { invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import { checkActionInput, type DeliveryAction } from "./delivery-action.ts";
import type { PoolId } from "./pool.ts";
import type { RecipientPause } from "./recipient-pause.ts";

export type RecipientId = string & { readonly __id: "recipient" };

/** The status set by the owner. Ejection is derived from outcomes, ends by itself and is not a status. */
export type RecipientStatus = "active" | "paused" | "draining" | "offline";

/** pull: the recipient fetches work. push: work is sent to it. decision_only: the decision only names it. */
export type DeliveryMode = "pull" | "push" | "decision_only";

/** A worker or endpoint of a pool that receives work. */
export interface Recipient extends Stamps {
  readonly tenantId: TenantId;
  readonly id: RecipientId;
  readonly poolId: PoolId;
  readonly name: string;
  readonly status: RecipientStatus;
  /** Relative share of items; 0 excludes the recipient. */
  readonly weight: number;
  /** Maximum number of items in flight; 0 means unlimited. */
  readonly capacity: number;
  /** Lower values come first. */
  readonly priority: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly skills: Readonly<Record<string, number>>;
  /** Declared cost of an item, used until outcomes report the real cost. */
  readonly cost: number;
  readonly delivery: {
    readonly mode: DeliveryMode;
    readonly url: string;
    /** Name of the secret that signs pushed items. */
    readonly secretRef: string;
    /** The connector action that delivers pushed items instead of a request to the URL. */
    readonly action?: DeliveryAction | undefined;
  };
  /** When the recipient last became active; slow start begins here. */
  readonly availableSince: Date;
}

/** The current load of a recipient and the state derived from its outcomes. */
export interface RecipientLoad {
  readonly inFlight: number;
  readonly lastAssignedAt: Date | null;
  readonly ejectedUntil: Date | null;
  readonly deprioritizedUntil: Date | null;
  /** Null unless the recipient is paused. */
  readonly pause: RecipientPause | null;
}

/** The load of a recipient that never had work. */
export const noLoad: RecipientLoad = {
  inFlight: 0,
  lastAssignedAt: null,
  ejectedUntil: null,
  deprioritizedUntil: null,
  pause: null,
};

/** Whether an active recipient is currently excluded because of repeated failures. */
export function isEjected({ status }: Recipient, { ejectedUntil }: RecipientLoad, nowMs: number): boolean {
  return status === "active" && ejectedUntil !== null && ejectedUntil.getTime() > nowMs;
}

/** Input of createRecipient. */
export type NewRecipient = Pick<
  Recipient,
  "name" | "status" | "weight" | "capacity" | "priority" | "attributes" | "skills" | "cost" | "delivery"
>;

/** Input of updateRecipient; undefined fields are unchanged. */
export interface RecipientChange extends Partial<Omit<NewRecipient, "delivery">> {
  readonly delivery?: Partial<Recipient["delivery"]>;
}

/** Maximum number of recipients in a pool. */
export const recipientsMax = 50_000;

const attributesBytesMax = 16_384;

/** Checks rules that the schema cannot express: the size of attributes and the push URL. */
export function checkRecipient(
  { attributes, delivery }: Pick<NewRecipient, "attributes" | "delivery">,
  /** Returns the reason why a URL must not be called, or undefined. */
  urlRefusal: (url: string) => string | undefined,
  path = "",
): void {
  if (Buffer.byteLength(JSON.stringify(attributes)) > attributesBytesMax) {
    throw invalid(`${path}attributes`, "max_bytes", `must have at most ${attributesBytesMax} bytes as JSON`);
  }
  const { action } = delivery;
  if (delivery.mode === "push" && delivery.url === "" && action === undefined) {
    throw invalid(
      `${path}delivery.url`,
      "required",
      "is required when delivery.mode is MODE_PUSH, unless there is an action",
    );
  }
  if (action !== undefined) {
    if (delivery.url !== "") throw invalid(`${path}delivery.action`, "exclusive", "cannot be set together with a url");
    checkActionInput(action, `${path}delivery.action`);
  }
  const refusal = delivery.url === "" ? undefined : urlRefusal(delivery.url);
  if (refusal !== undefined) throw invalid(`${path}delivery.url`, "url", refusal);
}

/** Returns the index of the first recipient with a name used before in the list, or -1. */
export function findRepeatedName(recipients: readonly Pick<NewRecipient, "name">[]): number {
  const names = new Set<string>();
  return recipients.findIndex(({ name }) => names.size === names.add(name).size);
}
