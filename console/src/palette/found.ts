import type { IconName } from "../ui/icon";

/** A place that the search found, or something that it can do. */
export interface Found {
  readonly title: string;
  readonly kind: string;
  readonly icon: IconName;
  readonly href: string;
  /** What is done instead of going somewhere. */
  readonly run?: () => void;
}
