import { createDiscoveryService, type ResolvedName } from "@client/gen/discovery";
import { type Signal, signal } from "@preact/signals";
import { onEvents } from "./live";
import { transport } from "./transport";

/** What is known about the name of a record: undefined until the service has answered, null if it shows no such record. */
type Known = ResolvedName | null | undefined;

const discovery = createDiscoveryService(transport);
const idsMax = 200;
const knownMax = 5_000;

/** The id of a record, perhaps after what it is called where it acts. Other texts are not asked about. */
const recordId = /(^|:)[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** By kind and id. */
const known = new Map<string, Signal<Known>>();
let wanted = new Set<string>();
let sending: Promise<unknown> = Promise.resolve();

/** Rises when names arrive. Whoever sorts by names sorts again then. */
export const namesVersion = signal(0);

/**
 * What people call a record. The first use asks the service; all uses in the same moment share one request. A component that
 * calls it is shown again when the name arrives.
 */
export function nameOf(id: string, kind = ""): Known {
  return entryOf(`${kind} ${id}`).value;
}

/** Resolves when all names that were used so far have arrived. */
export async function namesSettled(): Promise<void> {
  while (wanted.size > 0) await sending;
  await sending;
}

function entryOf(key: string): Signal<Known> {
  const found = known.get(key);
  if (found !== undefined) return found;
  const isAsked = !key.startsWith(" ") || recordId.test(key.slice(1));
  const entry = signal<Known>(isAsked ? undefined : null);
  known.set(key, entry);
  if (known.size > knownMax) known.delete(known.keys().next().value!);
  if (isAsked) ask(key);
  return entry;
}

/** Waits for the answer to the requests before, so that fast changes of a page do not cost a request each. */
function ask(key: string): void {
  if (wanted.size === 0) void sending.then(askAll);
  wanted.add(key);
}

/** Sends ids with a known kind apart from the others, because those cost a search among all kinds. */
function askAll(): void {
  const keys = [...wanted];
  wanted = new Set();
  const groups = Map.groupBy(keys, (key) => key.startsWith(" "));
  const requests = [...groups.values()].flatMap((group) => chunksOf(group).map(load));
  sending = Promise.all(requests);
}

function chunksOf(keys: readonly string[]): string[][] {
  const count = Math.ceil(keys.length / idsMax);
  return Array.from({ length: count }, (_, index) => keys.slice(index * idsMax, (index + 1) * idsMax));
}

async function load(keys: readonly string[]): Promise<void> {
  const asked = keys.map((key) => key.split(/ (.*)/s) as [kind: string, id: string]);
  const ids = [...new Set(asked.map(([, id]) => id))];
  const kinds = [...new Set(asked.map(([kind]) => kind))].filter(Boolean);
  const found = await discovery.resolveNames({ ids, kinds }).then(
    ({ names }) => names,
    () => [],
  );
  const byId = Map.groupBy(found, ({ id }) => id);
  for (const [at, [kind, id]] of asked.entries()) {
    const entry = known.get(keys[at]!);
    if (entry === undefined) continue;
    entry.value = byId.get(id)?.find((each) => kind === "" || each.kind === kind) ?? null;
  }
  namesVersion.value += 1;
}

// A change of a record may have changed its name.
onEvents((events) => {
  const changed = new Set(events.map(({ subject }) => subject));
  for (const key of known.keys()) if (changed.has(key.slice(key.indexOf(" ") + 1))) ask(key);
});
