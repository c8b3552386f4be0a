import type { JsonObject } from "../../../../platform/document/index.ts";
import type { EventLoopScheduler } from "../../../../platform/event-loop/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import { compileInSlices } from "../compile-in-slices.ts";
import type { Provider } from "../domain/provider.ts";
import type { ManifestHead } from "../manifest-store.ts";

interface Entry {
  readonly provider: Provider | undefined;
  readonly bytes: number;
}

/** Compiled manifests of tenants by their digest, bounded by the bytes of their documents. Tenants share equal ones. */
export class CompiledManifests {
  readonly #entries = new Map<string, Entry>();
  readonly #bytesMax: number;
  readonly #log: Log;
  readonly #shares: EventLoopScheduler;
  #bytes = 0;

  constructor(bytesMax: number, log: Log, shares: EventLoopScheduler) {
    this.#bytesMax = bytesMax;
    this.#log = log;
    this.#shares = shares;
  }

  /** Compiles versions, in the given order. A version that this release cannot read is left out. */
  async get(
    heads: readonly ManifestHead[],
    findDocuments: (ids: readonly string[]) => Promise<ReadonlyMap<string, JsonObject>>,
  ): Promise<readonly { readonly head: ManifestHead; readonly provider: Provider }[]> {
    const known = new Map(heads.map((head) => [head.id, this.#entries.get(head.digest)]));
    const missing = heads.filter(({ id }) => known.get(id) === undefined);
    const documents = missing.length === 0 ? undefined : await findDocuments(missing.map(({ id }) => id));
    for (const head of missing) {
      const document = documents?.get(head.id);
      if (document !== undefined) known.set(head.id, await this.#compile(head, document));
    }
    return heads.flatMap((head) => {
      const provider = known.get(head.id)?.provider;
      return provider === undefined ? [] : [{ head, provider }];
    });
  }

  async #compile({ id, tenantId, digest }: ManifestHead, document: JsonObject): Promise<Entry> {
    const { provider, violations } = await compileInSlices(document, this.#shares.forCall(tenantId));
    if (provider === undefined) {
      const [first] = violations;
      this.#log.warn({ tenantId, id, path: first?.path, reason: first?.message }, "a stored manifest cannot be read");
    }
    const entry: Entry = { provider, bytes: JSON.stringify(document).length };
    // A version can be stored with another digest only by a mistake; then it must not be found under it.
    if (provider !== undefined && provider.digest !== digest) return entry;
    // Another call can have compiled it in the meantime.
    this.#bytes += entry.bytes - (this.#entries.get(digest)?.bytes ?? 0);
    this.#entries.set(digest, entry);
    for (const [oldest, { bytes }] of this.#entries) {
      if (this.#bytes <= this.#bytesMax || oldest === digest) break;
      this.#entries.delete(oldest);
      this.#bytes -= bytes;
    }
    return entry;
  }
}
