import { domainToASCII } from "node:url";
import { type AddressKind, isNeverOpen, kindOf, netsOf, readCidr } from "./address.ts";

/** Whether what the policy objects to is refused, only noted, or not even looked at. */
export type EgressMode = "shadow" | "enforce" | "disabled";

/** Why the policy objects: the name is not listed, or the address is of a kind that is not open. */
export type Objection = "domain" | Exclude<AddressKind, "public">;

/** Which names and addresses may be reached. */
export interface EgressPolicy {
  /** What the policy has against an address of a host; undefined when nothing. */
  objectionTo(host: string, address: string): Objection | undefined;
  /** Whether an objection is the end of it. */
  refuses(objection: Objection): boolean;
}

/** The settings that make a policy. */
export interface PolicySettings {
  readonly mode: EgressMode;
  /** Names and `*.example.com`; when there are any, other names are objected to. */
  readonly allowedDomains: readonly string[];
  /** Nets in CIDR form that may be reached whatever they are for. */
  readonly allowedIpNets: readonly string[];
}

/** Makes a policy of its settings. */
export function createPolicy({ mode, allowedDomains, allowedIpNets }: PolicySettings): EgressPolicy {
  const opened = netsOf(allowedIpNets);
  // A wide net such as 0.0.0.0/0 does not open what it did not mean to: these are opened by a net that begins there.
  const openedByName = netsOf(allowedIpNets.filter((cidr) => isNeverOpen(kindOf(readCidr(cidr).net))));
  const domains = allowedDomains.map((domain) => domain.toLowerCase()).map(patternOf);
  return {
    objectionTo(host, address) {
      if (mode === "disabled") return undefined;
      const kind = kindOf(address);
      if ((isNeverOpen(kind) ? openedByName : opened).hold(address)) return undefined;
      if (kind !== "public") return kind;
      return domains.length === 0 || domains.some((matches) => matches(host)) ? undefined : "domain";
    },
    refuses: (objection) =>
      mode === "enforce" || (mode === "shadow" && objection !== "domain" && isNeverOpen(objection)),
  };
}

function patternOf(domain: string): (host: string) => boolean {
  const wild = domain.startsWith("*.");
  const name = domainToASCII(wild ? domain.slice(2) : domain);
  return wild ? (host) => host.endsWith(`.${name}`) : (host) => host === name;
}
