import { Resolver as DnsResolver, lookup } from "node:dns/promises";
import type { CheckedAddress } from "./egress.ts";

/** Resolves a name to all of its addresses. */
export type Resolver = (host: string) => Promise<readonly CheckedAddress[]>;

/**
 * Creates a resolver that queries the configured name servers directly. The system's own lookup blocks one of a few threads
 * until the name server responds, so one receiver with a slow name server would delay all others. It is only a fallback for
 * names that the name servers do not know, such as those in /etc/hosts and the short names of a cluster.
 */
export function createSystemResolver(nameServers: readonly string[] = []): Resolver {
  const dns = createDns(nameServers);
  return async (host) => {
    if (host === "localhost" || host.endsWith(".localhost")) return systemAddresses(host);
    const [four, six] = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)]);
    const found = [...addressesOf(four, 4), ...addressesOf(six, 6)];
    if (found.length > 0) return found;
    if ([four, six].some(isTimeout)) throw new Error("The DNS lookup timed out.");
    return systemAddresses(host);
  };
}

/** Looks the TXT records of a name up; none if there are none or if no name server responds. */
export function createTextLookup(nameServers: readonly string[]): (name: string) => Promise<readonly string[]> {
  const dns = createDns(nameServers);
  return async (name) => {
    const records = await dns.resolveTxt(name).catch(() => []);
    return records.map((parts) => parts.join(""));
  };
}

function createDns(nameServers: readonly string[]): DnsResolver {
  const dns = new DnsResolver({ timeout: 2000, tries: 2 });
  if (nameServers.length > 0) dns.setServers(nameServers);
  return dns;
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
