import type { Signals } from "../../../../platform/db/index.ts";

/** Signals between nodes of one process; each wake-up is noted. */
export function localSignals() {
  const listeners: { prefix: string; listener: (rest: string) => void }[] = [];
  const woken: string[] = [];
  const signals = {
    wake(topic: string) {
      woken.push(topic);
      for (const { prefix, listener } of listeners) if (topic.startsWith(prefix)) listener(topic.slice(prefix.length));
    },
    onWakeUnder(prefix: string, listener: (rest: string) => void) {
      listeners.push({ prefix, listener });
      return () => {};
    },
  } as unknown as Signals;
  return { signals, woken };
}
