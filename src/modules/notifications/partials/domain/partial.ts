import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";
import type { Engine } from "../../../../platform/templates/index.ts";

/** The replaceable fields of a partial. */
export interface PartialContent {
  readonly description: string;
  readonly engine: Engine;
  readonly body: string;
}

/** A piece of a template. */
export interface TemplatePartial extends PartialContent, Stamps {
  readonly tenantId: TenantId;
  readonly key: string;
  /** The partials that it includes directly, sorted. */
  readonly includes: readonly string[];
}

/** The maximum number of partials per tenant. All of them are in memory while their tenant sends. */
export const partialsMax = 200;

/** A partial as others include it. */
export type PartialLink = Pick<TemplatePartial, "key" | "engine" | "includes">;

/** The reason why a partial cannot include others; undefined when it can. */
export function inclusionProblem(
  { key, engine, includes }: PartialLink,
  others: readonly PartialLink[],
): string | undefined {
  const known = new Map(others.map((other) => [other.key, other]));
  const missing = includes.find((name) => name !== key && known.get(name)?.engine !== engine);
  if (missing !== undefined) return missingText(missing, engine);
  return reaches(key, includes, known) ? `must not include itself, directly or through other partials` : undefined;
}

/** Says that a template includes a partial that does not exist. */
export function missingText(name: string, engine: Engine): string {
  return `includes ${name}, which is not a partial in ${engine}`;
}

function reaches(key: string, includes: readonly string[], known: ReadonlyMap<string, PartialLink>): boolean {
  const seen = new Set<string>();
  const open = [...includes];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === key) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    open.push(...(known.get(name)?.includes ?? []));
  }
  return false;
}
