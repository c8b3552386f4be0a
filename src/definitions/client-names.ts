import type { DescService } from "@bufbuild/protobuf";

/** Services whose name has no plural: `client.routing`, but `client.pools`. */
const uncountable = new Set([
  "admission",
  "analytics",
  "config",
  "conformance",
  "connectorCatalog",
  "discovery",
  "evidence",
  "health",
  "inbox",
  "marketplace",
  "outbox",
  "routing",
  "sso",
  "work",
]);

/** The property of a service on the TypeScript client: `workflowRuns` for WorkflowRunService. */
export function propertyOf(service: DescService): string {
  const name = lowerFirst(nounOf(service));
  if (uncountable.has(name) || name.endsWith("s")) return name;
  return endsInIes(name) ? `${name.slice(0, -1)}ies` : `${name}s`;
}

/**
 * The names of a service's methods, by RPC name. The noun of the service is left out, because the property says it:
 * `pools.list`, `queues.listItems`. A name that would be ambiguous without the noun keeps it.
 */
export function methodNames(service: DescService): ReadonlyMap<string, string> {
  const short = service.methods.map(({ name }) => shortName(service, name));
  return new Map(
    service.methods.map(({ name }, index) => {
      const isUnique = short.indexOf(short[index]!) === short.lastIndexOf(short[index]!);
      return [name, lowerFirst(isUnique ? short[index]! : name)];
    }),
  );
}

function shortName(service: DescService, method: string): string {
  const noun = nounOf(service);
  const lastWord = /[A-Z][a-z0-9]*$/.exec(noun)![0];
  for (const each of [noun, lastWord]) {
    const stem = endsInIes(each) ? `${each.slice(0, -1)}(?:y|ies)` : `${each}s?`;
    const match = new RegExp(`^((?:Batch)?[A-Z][a-z]+(?:All|Default)?)${stem}(?![a-z])(.*)$`).exec(method);
    if (match !== null) return `${match[1]}${match[2]}`;
  }
  return method;
}

/** Whether the plural of a noun ends in -ies. */
function endsInIes(noun: string): boolean {
  return /[^aeiou]y$/.test(noun);
}

function nounOf({ name }: DescService): string {
  return name.replace(/Service$/, "");
}

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
