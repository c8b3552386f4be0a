import { type AgentOptions, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { LookupFunction } from "node:net";
import type { CheckedAddress } from "./egress.ts";

/** Connections that are kept for the next call to the same host at the same addresses. */
export interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** What a request hands its agent besides the usual. */
export interface Pin {
  readonly pinned: string;
  readonly lookup: LookupFunction;
}

// Shorter than the five seconds after which many servers hang up: a request on a connection that is just being closed
// would be lost without anyone knowing whether it arrived.
const idleMs = 4000;

const options: AgentOptions = { keepAlive: true, timeout: idleMs, maxFreeSockets: 16 };

/** Makes the agents of this node; `ca` replaces the authorities that are trusted. */
export function createAgents(ca: string | undefined): Agents {
  return {
    http: new PinnedHttpAgent(options),
    https: new PinnedHttpsAgent({ ...options, rejectUnauthorized: true, ...(ca !== undefined && { ca }) }),
  };
}

/** Has a connection go to these addresses and no others, and be used again only by calls that may reach all of them. */
export function pinTo(addresses: readonly CheckedAddress[]): Pin {
  const [first] = addresses;
  return {
    pinned: addresses
      .map(({ address }) => address)
      .sort()
      .join(","),
    lookup: (_host, { all }, callback) => {
      if (all) callback(null, [...addresses]);
      else callback(null, first!.address, first!.family);
    },
  };
}

class PinnedHttpAgent extends HttpAgent {
  override getName(wanted?: object): string {
    return `${super.getName(wanted)}:${(wanted as Partial<Pin>).pinned}`;
  }
}

class PinnedHttpsAgent extends HttpsAgent {
  override getName(wanted?: object): string {
    return `${super.getName(wanted)}:${(wanted as Partial<Pin>).pinned}`;
  }
}
