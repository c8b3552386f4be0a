import type { TenantId } from "../../../../platform/access/index.ts";
import type { Claim } from "../../../../platform/idempotency/index.ts";
import type { AdmissionRequest, Verdict } from "../../admission/index.ts";
import type { Parcel } from "./accept-store.ts";

/** One call's items on their way in. */
export interface Proposal {
  readonly tenantId: TenantId;
  readonly items: readonly {
    readonly id: string;
    readonly poolId: string;
    readonly admission: AdmissionRequest | undefined;
    /** Whether it is to be sent to its recipient. */
    readonly push: boolean;
  }[];
  readonly nowMs: number;
  /** The call's idempotency key, if it has one. */
  readonly claim: Pick<Claim, "tenantId" | "principal" | "operation" | "key"> | undefined;
  /** What is to be kept, given what admission says of each item (undefined where nothing constrains it). */
  settle(verdicts: readonly (Verdict | undefined)[]): Parcel;
}
