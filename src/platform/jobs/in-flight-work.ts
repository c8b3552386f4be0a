import { setTimeout as delay } from "node:timers/promises";

/** The work that this node has in progress, counted by owner, for example the tenant. */
export class InFlightWork {
  readonly #running = new Set<Promise<void>>();
  readonly #counts = new Map<string, number>();
  #stopping = new AbortController();

  get size(): number {
    return this.#running.size;
  }

  countOf(owner: string): number {
    return this.#counts.get(owner) ?? 0;
  }

  /** The owners with at least this much in progress. */
  busyOwners(atLeast: number): string[] {
    return [...this.#counts].flatMap(([owner, count]) => (count >= atLeast ? owner : []));
  }

  /** Starts work that never rejects. The signal aborts when the node stops. */
  start(owner: string, work: (signal: AbortSignal) => Promise<void>, onEnd: () => void): void {
    this.#count(owner, 1);
    const done = work(this.#stopping.signal).finally(() => {
      this.#running.delete(done);
      this.#count(owner, -1);
      onEnd();
    });
    this.#running.add(done);
  }

  /** Waits until all work has ended; aborts it after a grace period. */
  async drain(graceMs: number): Promise<void> {
    const drained = new AbortController();
    const ended = Promise.all(this.#running).finally(() => drained.abort());
    if (graceMs > 0) await delay(graceMs, undefined, { signal: drained.signal }).catch(() => {});
    this.#stopping.abort(new Error("The node is stopping."));
    await ended;
    this.#stopping = new AbortController();
  }

  #count(owner: string, change: 1 | -1): void {
    const count = this.countOf(owner) + change;
    if (count === 0) this.#counts.delete(owner);
    else this.#counts.set(owner, count);
  }
}
