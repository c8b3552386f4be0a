import { isIP, type Socket } from "node:net";
import { createNetworkSet, toPlainAddress } from "../platform/egress/index.ts";
import { type Exchange, headerOf } from "./exchange.ts";

/** Reads the address of the client that sent a request. */
export type ClientAddressReader = (request: Exchange["request"]) => string;

interface Options {
  /** The header in which proxies name the client, in lower case; empty if none is trusted. */
  readonly header: string;
  /** The networks of the proxies that may send the header. */
  readonly proxyNetworks: readonly string[];
}

/**
 * Creates the reader of client addresses, which limits, sessions and the audit log share. Each proxy appends the address that it
 * was called from. So the list is read from its end, and only as far as proxies wrote it: a client can write the rest.
 */
export function createClientAddressReader({ header, proxyNetworks }: Options): ClientAddressReader {
  const proxies = createNetworkSet(proxyNetworks);
  const peers = new WeakMap<Socket, string>();
  const peerOf = (socket: Socket): string => {
    let peer = peers.get(socket);
    if (peer === undefined) {
      peer = toPlainAddress(socket.remoteAddress ?? "");
      peers.set(socket, peer);
    }
    return peer;
  };
  return (request) => {
    let address = peerOf(request.socket);
    if (header === "") return address;
    const named = (headerOf(request, header) ?? "").split(",");
    while (named.length > 0 && proxies.contains(address)) {
      const previous = toPlainAddress(withoutPort(named.pop()!.trim()));
      if (isIP(previous) === 0) break;
      address = previous;
    }
    return address;
  };
}

/** Some proxies add the port: `203.0.113.7:4711` or `[2001:db8::7]:4711`. */
function withoutPort(address: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? address.replace(/^([\d.]+):\d+$/, "$1");
}
