import { once } from "node:events";
import net, { type AddressInfo, type Server, type Socket } from "node:net";

/** A process that takes connections. */
export interface ConnectionTaker {
  /** Whether it takes connections now. */
  isAccepting(): boolean;
  /** Sends a connection of a listener, which stays open here. */
  give(listener: string, socket: Socket): void;
}

/** The result of a request for a listener: its address, or why there is none. */
export type ListenResult =
  | { readonly address: string }
  | { readonly code: string | undefined; readonly message: string };

/** The message of a process that has taken a connection. */
export const connectionTaken = "taken";

/** How many connections a process is sent before it has taken the first. */
const sentMax = 16;

interface Waiting {
  readonly listener: string;
  readonly socket: Socket;
}

/**
 * Creates the listeners that the processes of a machine share. The supervisor accepts every connection, and the processes get them in
 * turn. One that does not take what it was sent is passed over. While no process takes any, connections wait, up to `waitingMax`.
 */
export function createSharedListeners(waitingMax: number) {
  const servers = new Map<string, Promise<Server>>();
  const takers: ConnectionTaker[] = [];
  /** The connections that were sent and not taken yet, in order. */
  const sent = new Map<ConnectionTaker, Socket[]>();
  const waiting: Waiting[] = [];

  function distribute(): void {
    while (waiting.length > 0) {
      const at = takers.findIndex((taker) => taker.isAccepting() && sent.get(taker)!.length < sentMax);
      if (at < 0) return;
      const [taker] = takers.splice(at, 1) as [ConnectionTaker];
      takers.push(taker);
      const { listener, socket } = waiting.shift()!;
      sent.get(taker)!.push(socket);
      taker.give(listener, socket);
    }
  }

  async function bind(name: string, host: string, port: number): Promise<Server> {
    // Nothing is read here. The options hold for the connection in whichever process it is.
    const server = net.createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
      if (waiting.length >= waitingMax) {
        socket.destroy();
        return;
      }
      waiting.push({ listener: name, socket });
      distribute();
    });
    server.listen({ port, ...(host !== "" && { host }) });
    await once(server, "listening");
    return server;
  }

  return {
    /** Binds a listener. Later requests for it get the same address. */
    async listen(name: string, host: string, port: number): Promise<ListenResult> {
      const bound = servers.get(name) ?? bind(name, host, port);
      servers.set(name, bound);
      try {
        return { address: formatAddress((await bound).address() as AddressInfo) };
      } catch (error) {
        servers.delete(name);
        const { code, message } = error as NodeJS.ErrnoException;
        return { code, message };
      }
    },
    add(taker: ConnectionTaker): void {
      takers.push(taker);
      sent.set(taker, []);
      distribute();
    },
    /** A process has taken the first connection that it was sent: it is open there and no longer needed here. */
    taken(taker: ConnectionTaker): void {
      sent.get(taker)?.shift()?.destroy();
      distribute();
    },
    /** Removes a process that has ended. The connections that it had not taken are closed, like those that it had. */
    remove(taker: ConnectionTaker): void {
      const at = takers.indexOf(taker);
      if (at >= 0) takers.splice(at, 1);
      for (const socket of sent.get(taker) ?? []) socket.destroy();
      sent.delete(taker);
    },
    /** Refuses further connections. */
    async close(): Promise<void> {
      for (const { socket } of waiting.splice(0)) socket.destroy();
      for (const bound of servers.values()) (await bound).close();
      servers.clear();
    },
  };
}

/** Formats an address as `host:port`. */
export function formatAddress({ address, family, port }: AddressInfo): string {
  return `${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
