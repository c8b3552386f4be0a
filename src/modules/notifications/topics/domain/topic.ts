import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** A named set of subscribers. */
export interface Topic extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  /** What names it, for ever. */
  readonly key: string;
  readonly name: string;
  readonly description: string;
}

/** What may be said about a topic; the key is its name when it has none. */
export type TopicText = Pick<Topic, "name" | "description">;
