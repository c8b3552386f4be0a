import { type AgentOptions, Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { LookupFunction } from "node:net";
import type { CheckedAddress } from "./egress.ts";

/** HTTP agents that reuse connections for the same host at the same addresses. */
export interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

/** Request options that pin a connection to checked addresses. */
export interface Pin {
  readonly pinned: string;
  readonly lookup: LookupFunction;
}

// Shorter than the five seconds after which many servers close an idle connection. A request on a connection that is being
// closed would be lost with an unknown outcome.
const idleMs = 4000;

/** Idle connections to one host. With fewer than requests that end together, the next requests would connect anew. */
const maxFreeSockets = 128;

const options: AgentOptions = { keepAlive: true, timeout: idleMs, maxFreeSockets };

/** Creates the agents of this node; `ca` replaces the trusted certificate authorities. */
export function createAgents(ca: string | undefined): Agents {
  return {
    http: new PinnedHttpAgent(options),
    https: new PinnedHttpsAgent({ ...options, rejectUnauthorized: true, ...(ca !== undefined && { ca }) }),
  };
}

/** Pins a connection to these addresses. It is reused only by calls with exactly the same addresses. */
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
