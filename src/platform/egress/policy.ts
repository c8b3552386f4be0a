import { domainToASCII } from "node:url";
import { type AddressKind, createNetworkSet, isRefusedInShadowMode, kindOf, parseCidr } from "./address.ts";

/** Whether objections are refused (`enforce`), only reported (`shadow`), or not evaluated (`disabled`). */
export type EgressMode = "shadow" | "enforce" | "disabled";

/** Why the policy objects: the domain is not listed, or the kind of the address is not allowed. */
export type Objection = "domain" | Exclude<AddressKind, "public">;

/** Decides which names and addresses may be reached. */
export interface EgressPolicy {
  /** The objection to an address of a host, or undefined. */
  objectionTo(host: string, address: string): Objection | undefined;
  /** Whether the connection is refused because of an objection. */
  refuses(objection: Objection): boolean;
}

export interface PolicySettings {
  readonly mode: EgressMode;
  /** Names and patterns such as `*.example.com`. If there are any, the policy objects to all other names. */
  readonly allowedDomains: readonly string[];
  /** Networks in CIDR notation that may be reached regardless of their kind. */
  readonly allowedIpNets: readonly string[];
}

export function createPolicy({ mode, allowedDomains, allowedIpNets }: PolicySettings): EgressPolicy {
  const allowed = createNetworkSet(allowedIpNets);
  // A wide network such as 0.0.0.0/0 must not allow metadata services by accident. Only a network that starts in their range does.
  const allowedExplicitly = createNetworkSet(
    allowedIpNets.filter((cidr) => isRefusedInShadowMode(kindOf(parseCidr(cidr).net))),
  );
  const domains = allowedDomains.map((domain) => domain.toLowerCase()).map(patternOf);
  return {
    objectionTo(host, address) {
      if (mode === "disabled") return undefined;
      const kind = kindOf(address);
      if ((isRefusedInShadowMode(kind) ? allowedExplicitly : allowed).contains(address)) return undefined;
      if (kind !== "public") return kind;
      return domains.length === 0 || domains.some((matches) => matches(host)) ? undefined : "domain";
    },
    refuses: (objection) =>
      mode === "enforce" || (mode === "shadow" && objection !== "domain" && isRefusedInShadowMode(objection)),
  };
}

function patternOf(domain: string): (host: string) => boolean {
  const wild = domain.startsWith("*.");
  const name = domainToASCII(wild ? domain.slice(2) : domain);
  return wild ? (host) => host.endsWith(`.${name}`) : (host) => host === name;
}
