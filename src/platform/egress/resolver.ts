import { Resolver as DnsResolver, lookup } from "node:dns/promises";
import type { CheckedAddress } from "./egress.ts";

/** Finds every address of a name. */
export type Resolver = (host: string) => Promise<readonly CheckedAddress[]>;

/**
 * The name servers of this machine. The system's own look-up takes one of a few threads for as long as a name server
 * lets it wait, so that a receiver with a slow one would hold up all others; it is asked only for what the name servers
 * do not know: names of /etc/hosts, short names of a cluster.
 */
export function systemResolver(): Resolver {
  const dns = new DnsResolver({ timeout: 2000, tries: 2 });
  return async (host) => {
    if (host === "localhost" || host.endsWith(".localhost")) return systemAddresses(host);
    const [four, six] = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)]);
    const found = [...addressesOf(four, 4), ...addressesOf(six, 6)];
    if (found.length > 0) return found;
    if ([four, six].some(isTimeout)) throw new Error("The name servers did not answer in time.");
    return systemAddresses(host);
  };
}

async function systemAddresses(host: string): Promise<CheckedAddress[]> {
  return (await lookup(host, { all: true })) as CheckedAddress[];
}

function addressesOf(answer: PromiseSettledResult<string[]>, family: 4 | 6): CheckedAddress[] {
  return answer.status === "fulfilled" ? answer.value.map((address) => ({ address, family })) : [];
}

function isTimeout(answer: PromiseSettledResult<string[]>): boolean {
  return answer.status === "rejected" && (answer.reason as { code?: string }).code === "ETIMEOUT";
}
