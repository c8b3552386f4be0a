import type { TenantId } from "../../../../platform/access/index.ts";
import type { Engine } from "../../../../platform/templates/index.ts";
import type { LayoutChannel } from "./channel.ts";

export type LayoutId = string & { readonly __id: "layout" };

/** The replaceable fields of a layout. */
export interface LayoutDetails {
  /** Unique on its channel. */
  readonly name: string;
  readonly description: string;
  readonly engine: Engine;
  /** The template around the content; HTML on email. */
  readonly body: string;
  /** The plain-text template around the content; empty when there is none. */
  readonly textBody: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A template that wraps the notifications of one channel. */
export interface Layout extends LayoutDetails {
  readonly tenantId: TenantId;
  readonly id: LayoutId;
  readonly channel: LayoutChannel;
  /** Whether it is used for notifications that name no layout. */
  readonly isDefault: boolean;
  /** Incremented by every update, starting at 1. */
  readonly version: number;
  /** The variables that its templates read, except the content. */
  readonly variables: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The template variable that is replaced by the content. */
export const placeholder = "content";

/** The maximum number of layouts per tenant. */
export const layoutsMax = 500;

const nameMax = 128;
export const metadataBytesMax = 16 * 1024;

const copySuffix = " (copy)";

/**
 * Candidate names for a copy, in order of preference: `A (copy)`, then `A (copy) (copy)` and so on. The original name is
 * truncated if the suffix would not fit.
 */
export function copyNames(name: string): string[] {
  const letters = [...name];
  const count = Math.floor((nameMax - 1) / copySuffix.length);
  return Array.from({ length: count }, (_, index) => {
    const suffix = copySuffix.repeat(index + 1);
    return letters.slice(0, nameMax - suffix.length).join("") + suffix;
  });
}

/** The fields that an update replaces. */
export const detailFields = ["name", "description", "engine", "body", "textBody", "metadata"] as const;
