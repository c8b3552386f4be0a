import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { connectionTaken, type ListenResult } from "./shared-listeners.ts";

interface Address {
  readonly host: string;
  readonly port: number;
}

interface Dependencies {
  readonly bind: (name: string, address: Address) => Promise<ListenResult>;
  readonly stopAccepting: () => Promise<void>;
}

/** A server that never binds an address itself. */
interface UnboundServer extends EventEmitter {
  readonly allowHalfOpen?: boolean;
}

/** The listeners of this process, whose connections its supervisor accepts. */
export type SupervisedListeners = ReturnType<typeof createSupervisedListeners>;

/** Creates the listeners of a process that has a supervisor. */
export function createSupervisedListeners({ bind, stopAccepting }: Dependencies) {
  const servers = new Map<string, UnboundServer>();
  process.on("message", (message: { readonly connection?: string }, socket: Socket | undefined) => {
    if (message.connection === undefined) return;
    process.send!(connectionTaken);
    // The caller may have left before its connection arrived here.
    if (socket === undefined) return;
    const server = servers.get(message.connection)!;
    socket.allowHalfOpen = server.allowHalfOpen ?? false;
    server.emit("connection", socket);
  });
  let closed: Promise<void> | undefined;
  return {
    listen(name: string, address: Address, server: UnboundServer): Promise<ListenResult> {
      servers.set(name, server);
      return bind(name, address);
    },
    /** Ends the handover of connections to all listeners. Resolves after the last one. */
    close(): Promise<void> {
      closed ??= stopAccepting();
      return closed;
    },
  };
}
