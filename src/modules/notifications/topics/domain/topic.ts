import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** A named set of subscribers. */
export interface Topic extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  /** Unique within the tenant and immutable. */
  readonly key: string;
  readonly name: string;
  readonly description: string;
}

/** The changeable fields of a topic; the name defaults to the key. */
export type TopicDetails = Pick<Topic, "name" | "description">;
