import type { Json } from "../../../../../platform/document/index.ts";
import { valueAt } from "../json-pointer.ts";
import type { PageState, PaginationSpec } from "../response-spec.ts";

/** One page of a list. */
export interface Page {
  readonly body: Json | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly items: readonly Json[];
  /** The number of items and pages so far, with this page. */
  readonly itemCount: number;
  readonly pageCount: number;
}

/** Where the next page starts; undefined if this is the last one. */
export function nextPageOf(spec: PaginationSpec, page: Page): PageState["next"] | undefined {
  if (spec.more !== undefined && valueAt(page.body, spec.more) !== true) return undefined;
  if (spec.last !== undefined && valueAt(page.body, spec.last) === true) return undefined;
  switch (spec.kind) {
    case "link": {
      const url = nextLink(page.headers.link ?? "");
      return url === undefined ? undefined : { kind: "url", url };
    }
    case "url":
    case "cursor": {
      const cursor = cursorOf(spec, page);
      if (cursor === undefined || cursor === "") return undefined;
      return spec.kind === "url" ? { kind: "url", url: String(cursor) } : { kind: "param", value: cursor };
    }
    case "page":
      return isLast(spec, page) ? undefined : { kind: "param", value: spec.first + page.pageCount };
    case "offset":
      return isLast(spec, page) ? undefined : { kind: "param", value: spec.first + page.itemCount };
  }
}

function cursorOf({ cursor }: PaginationSpec, { body, items }: Page): string | number | undefined {
  if (cursor === undefined) return undefined;
  const value = valueAt(cursor.of === "body" ? body : items.at(-1), cursor.pointer);
  return typeof value === "string" || typeof value === "number" ? value : undefined;
}

/** Counted pages end with a page that is not full. */
function isLast({ size, more }: PaginationSpec, { items }: Page): boolean {
  if (items.length === 0) return true;
  return more === undefined && size !== undefined && items.length < size.value;
}

// Every part is delimited by what its class excludes, so that a hostile header takes linear time.
const linkPattern = /<([^<>]*)>((?:\s*;\s*[^\s=;,<>"]+(?:\s*=\s*(?:"[^"]*"|[^\s",;<>]*))?)*)/g;

/** The URL with rel="next" of a Link header (RFC 8288). */
export function nextLink(header: string): string | undefined {
  for (const [, url, parameters] of header.matchAll(linkPattern)) {
    const relation = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s",;]*))/i.exec(parameters!);
    const relations = (relation?.[1] ?? relation?.[2] ?? "").toLowerCase().split(/\s+/);
    // Sentry always names a next page and says in `results` whether it has items.
    if (relations.includes("next") && !/;\s*results\s*=\s*"?false"?/i.test(parameters!)) return url;
  }
  return undefined;
}
