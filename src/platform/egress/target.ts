import { isIP, isIPv6 } from "node:net";
import { createPolicy, type EgressPolicy } from "./policy.ts";

/** A parsed URL. */
export interface Target {
  readonly url: URL;
  readonly secure: boolean;
  /** The name in lower case and without a trailing dot, or the address without brackets. */
  readonly host: string;
  /** Whether the host is an IP address in any notation. */
  readonly isAddress: boolean;
  readonly port: number;
}

const urlLengthMax = 2048;

/** Parses a URL; returns the reason if it cannot be called. */
export function parseTarget(text: string): Target | string {
  if (text.length > urlLengthMax) return `must have at most ${urlLengthMax} characters`;
  const url = URL.parse(text);
  if (url === null) return "must be a URL (for example: https://example.com/hooks)";
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must start with https:// or http://";
  if (url.username !== "" || url.password !== "") return "must not contain credentials";
  const secure = url.protocol === "https:";
  const host = hostOf(url);
  if (host === "") return "must name a host";
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  if (port === 0) return "must not have port 0";
  return { url, secure, host, isAddress: isIP(host) !== 0, port };
}

/** Parses a bare host like the host of a URL, so that 127.1 and 0x7f000001 are recognised as addresses; undefined if invalid. */
export function parseHost(text: string): Pick<Target, "host" | "isAddress"> | undefined {
  if (text.length > 253 || (/[\s/?#@\\:%]/.test(text) && !isIPv6(text))) return undefined;
  const target = parseTarget(`http://${isIPv6(text) ? `[${text}]` : text}`);
  return typeof target === "string" ? undefined : target;
}

/** The most permissive policy: it refuses only the addresses that every policy refuses. */
const mostPermissivePolicy = createPolicy({ mode: "shadow", allowedDomains: [], allowedIpNets: [] });

/**
 * Returns why a URL must not be stored, because it can never be called, or undefined. Names are not resolved; an IP address
 * is checked against the policy.
 */
export function urlRefusal(url: string, policy: EgressPolicy = mostPermissivePolicy): string | undefined {
  const target = parseTarget(url);
  if (typeof target === "string") return target;
  if (!target.isAddress) return undefined;
  const objection = policy.objectionTo(target.host, target.host);
  return objection !== undefined && policy.refuses(objection)
    ? "must not point to an address that the egress policy refuses"
    : undefined;
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}
