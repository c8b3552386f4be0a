import { invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Engine } from "../../../../platform/templates/index.ts";
import type { LayoutChannel } from "./channel.ts";

/** A layout's id. */
export type LayoutId = string & { readonly __id: "layout" };

/** What a caller says of a layout, besides its channel. */
export interface LayoutText {
  /** Unique on its channel. */
  readonly name: string;
  readonly description: string;
  readonly engine: Engine;
  /** The template around the content; on email HTML. */
  readonly body: string;
  /** The template around the content without markup; empty when there is none. */
  readonly textBody: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** What stands around notifications on one channel. */
export interface Layout extends LayoutText {
  readonly tenantId: TenantId;
  readonly id: LayoutId;
  readonly channel: LayoutChannel;
  /** Whether it is taken for notifications that name no layout. */
  readonly isDefault: boolean;
  /** Counts the changes of its text, from 1. */
  readonly version: number;
  /** What its templates read, but for the content. */
  readonly variables: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The name that stands for the content in a layout's templates. */
export const placeholder = "content";

/** How many layouts a tenant may have. */
export const layoutsMax = 500;

const nameMax = 128;
const metadataBytesMax = 16 * 1024;

/** Refuses metadata that is too large. */
export function checkMetadata(metadata: Readonly<Record<string, unknown>>): void {
  if (Buffer.byteLength(JSON.stringify(metadata)) > metadataBytesMax) {
    throw invalid("metadata", "max_bytes", `must have at most ${metadataBytesMax} bytes as JSON`);
  }
}

const copySuffix = " (copy)";

/**
 * Names for a copy, the best first: `A (copy)`, then `A (copy) (copy)` and so on. A copy of a copy is named in the same
 * way. The name is cut short where a suffix would not fit.
 */
export function copyNames(name: string): string[] {
  const letters = [...name];
  const count = Math.floor((nameMax - 1) / copySuffix.length);
  return Array.from({ length: count }, (_, index) => {
    const suffix = copySuffix.repeat(index + 1);
    return letters.slice(0, nameMax - suffix.length).join("") + suffix;
  });
}

/** The names, as messages have them, of what an update makes different. */
export function changedNames(before: Layout, after: Layout): string[] {
  const fields = [
    ["name", before.name === after.name],
    ["description", before.description === after.description],
    ["engine", before.engine === after.engine],
    ["body", before.body === after.body],
    ["text_body", before.textBody === after.textBody],
    ["metadata", JSON.stringify(before.metadata) === JSON.stringify(after.metadata)],
  ] as const;
  return fields.flatMap(([field, same]) => (same ? [] : [field]));
}
