import { createNetworkSet, toPlainAddress } from "../../platform/egress/index.ts";

/** The limit that a refused connection exceeded. */
export type ConnectionRefusal = "total" | "address";

/** Counts open connections and refuses those over a limit. */
export type ConnectionLimit = ReturnType<typeof createConnectionLimit>;

interface Options {
  readonly max: number;
  readonly maxPerAddress: number;
  /** Networks of proxies. Their addresses represent many callers, so only `max` applies to them. */
  readonly proxyNetworks: readonly string[];
}

/** Creates a limit. Listeners that share it are counted together. */
export function createConnectionLimit({ max, maxPerAddress, proxyNetworks }: Options) {
  const proxies = createNetworkSet(proxyNetworks);
  const perAddress = new Map<string, number>();
  let total = 0;
  return {
    /** The number of open connections. */
    open: (): number => total,
    /** Counts a connection and returns its release function, or the limit that refuses it. */
    admit(remoteAddress: string | undefined): (() => void) | ConnectionRefusal {
      if (total >= max) return "total";
      const address = toPlainAddress(remoteAddress ?? "");
      const counted = !proxies.contains(address);
      const held = perAddress.get(address) ?? 0;
      if (counted && held >= maxPerAddress) return "address";
      total++;
      if (counted) perAddress.set(address, held + 1);
      return () => {
        total--;
        if (!counted) return;
        const left = perAddress.get(address)! - 1;
        if (left === 0) perAddress.delete(address);
        else perAddress.set(address, left);
      };
    },
  };
}
