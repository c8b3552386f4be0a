import type { IconName } from "../ui/icon";

/** A place that the search found. */
export interface Found {
  readonly title: string;
  readonly kind: string;
  readonly icon: IconName;
  readonly href: string;
}
