import type { TenantId } from "../../../../platform/access/index.ts";
import type { KeyClaim } from "../../../../platform/idempotency/index.ts";
import type { AdmissionRequest, Verdict } from "../../admission/index.ts";
import type { AcceptedBatch } from "./accept-input.ts";

/** A call's request to accept items. */
export interface AcceptRequest {
  readonly tenantId: TenantId;
  readonly items: readonly {
    readonly id: string;
    readonly poolId: string;
    readonly admission: AdmissionRequest | undefined;
    /** Whether the item is pushed to its recipient. */
    readonly push: boolean;
    /** The payload, if a waiting item may take it: in a pool whose debounce takes all items. */
    readonly payloadJson?: string | undefined;
    /** Whether the item waits for other items. */
    readonly hasDependencies?: boolean;
  }[];
  readonly nowMs: number;
  /** The call's idempotency key, if any. */
  readonly claim: Pick<KeyClaim, "tenantId" | "principal" | "operation" | "key"> | undefined;
  /** Creates the rows to write, given the admission verdict of each item (undefined for an unconstrained item). */
  toBatch(verdicts: readonly (Verdict | undefined)[]): AcceptedBatch;
}
