import { invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Catalogue } from "./catalogue.ts";
import { limits } from "./limits.ts";
import { parseQuery } from "./promql/parser.ts";
import { renderQuery } from "./promql/query-text.ts";
import { validateQuery } from "./promql/validation.ts";

/**
 * Turns a tenant's query into one that reads only series of this tenant. The result is rendered from the validated tree; no part
 * of the given text is copied.
 */
export function scopeQuery(query: string, tenantId: TenantId, catalogue: Catalogue): string {
  if (Buffer.byteLength(query) > limits.queryBytesMax) {
    throw invalid("query", "promql.size", `must not be longer than ${limits.queryBytesMax} bytes`);
  }
  const expression = parseQuery(query);
  validateQuery(expression, catalogue);
  return renderQuery(expression, ({ series }) => {
    const { tenantLabel } = catalogue.series.get(series)!;
    return tenantLabel === undefined ? [] : [{ label: tenantLabel, operator: "=", value: tenantId }];
  });
}
