import { isIP, isIPv6 } from "node:net";
import { createPolicy, type EgressPolicy } from "./policy.ts";

/** Where a URL leads. */
export interface Target {
  readonly url: URL;
  readonly secure: boolean;
  /** The name in lower case and without a trailing dot, or the address without brackets. */
  readonly host: string;
  /** Whether the host is an address, in whichever way it was written. */
  readonly isAddress: boolean;
  readonly port: number;
}

const urlLengthMax = 2048;

/** Reads a URL; answers with why it is none that can be called. */
export function readTarget(text: string): Target | string {
  if (text.length > urlLengthMax) return `must have at most ${urlLengthMax} characters`;
  const url = URL.parse(text);
  if (url === null) return "must be a URL";
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must start with https:// or http://";
  if (url.username !== "" || url.password !== "") return "must not hold credentials";
  const secure = url.protocol === "https:";
  const host = hostOf(url);
  if (host === "") return "must name a host";
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  if (port === 0) return "must not name port 0";
  return { url, secure, host, isAddress: isIP(host) !== 0, port };
}

/** A bare host as a URL would hold it, so that 127.1 and 0x7f000001 are known for what they are; undefined for no host. */
export function readHost(text: string): Pick<Target, "host" | "isAddress"> | undefined {
  if (text.length > 253 || (/[\s/?#@\\:%]/.test(text) && !isIPv6(text))) return undefined;
  const target = readTarget(`http://${isIPv6(text) ? `[${text}]` : text}`);
  return typeof target === "string" ? undefined : target;
}

/** What is refused whatever the settings, as long as there is a policy at all. */
const widestPolicy = createPolicy({ mode: "shadow", allowedDomains: [], allowedIpNets: [] });

/**
 * A cheap check of a URL that is about to be stored: why it can never be called, or undefined. A name is not looked up;
 * an address is held against the policy.
 */
export function urlRefusal(url: string, policy: EgressPolicy = widestPolicy): string | undefined {
  const target = readTarget(url);
  if (typeof target === "string") return target;
  if (!target.isAddress) return undefined;
  const objection = policy.objectionTo(target.host, target.host);
  return objection !== undefined && policy.refuses(objection) ? "must not lead to this address" : undefined;
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
