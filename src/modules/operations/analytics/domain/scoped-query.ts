import { Failure, fail, invalid } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Catalogue } from "./catalogue.ts";
import { limits } from "./limits.ts";
import type { Expression } from "./promql/expression.ts";
import { parseQuery } from "./promql/parser.ts";
import { renderQuery } from "./promql/query-text.ts";
import { repairQuery } from "./promql/repair.ts";
import { validateQuery } from "./promql/validation.ts";

/** Reads a valid query; a failure has its repair. */
function readQuery(query: string, catalogue: Catalogue): Expression {
  try {
    const expression = parseQuery(query);
    validateQuery(expression, catalogue);
    return expression;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const problemOf = (repaired: string) => problemIn(repaired, catalogue);
    const repairs = new Map([["query", () => repairQuery(query, catalogue, problemOf)]]);
    const { violations, message } = error;
    throw fail("INVALID_ARGUMENT", { public: message, violations, repairs });
  }
}

function problemIn(query: string, catalogue: Catalogue): string | undefined {
  try {
    validateQuery(parseQuery(query), catalogue);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

/**
 * Turns a tenant's query into one that reads only series of this tenant. The result is rendered from the validated tree; no part
 * of the given text is copied.
 */
export function scopeQuery(query: string, tenantId: TenantId, catalogue: Catalogue): string {
  if (Buffer.byteLength(query) > limits.queryBytesMax) {
    throw invalid("query", "promql.size", `must not be longer than ${limits.queryBytesMax} bytes`);
  }
  const expression = readQuery(query, catalogue);
  return renderQuery(expression, ({ series }) => {
    const { tenantLabel } = catalogue.series.get(series)!;
    return tenantLabel === undefined ? [] : [{ label: tenantLabel, operator: "=", value: tenantId }];
  });
}
