import { type ErrorCode, Failure, fail } from "../../errors/index.ts";

/** The end of an IPC channel between two processes. */
interface ChannelEnd {
  send(message: object): unknown;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

/** What the other process can be asked for, by name. Requests and results are JSON. */
// biome-ignore lint/suspicious/noExplicitAny: each call has its own types.
type Calls = Record<string, (request: any) => unknown>;

type Message =
  | { readonly call: string; readonly id: number; readonly request: unknown }
  | { readonly reply: number; readonly result?: unknown; readonly error?: string; readonly code?: ErrorCode }
  | { readonly connection: string };

interface Pending {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

/** Calls between a supervisor and one of its processes. */
export type ProcessChannel<Remote extends Calls> = ReturnType<typeof openChannel<Remote>>;

/** Opens a channel, and answers the calls of the other process. Messages arrive in the order in which they were sent. */
export function openChannel<Remote extends Calls>(end: ChannelEnd, own: Calls) {
  const pending = new Map<number, Pending>();
  let sent = 0;
  let closed: Error | undefined;
  const answer = async ({ call, id, request }: Extract<Message, { call: string }>) => {
    const reply = await Promise.resolve()
      .then(() => own[call]!(request))
      .then(
        (result) => ({ reply: id, result }),
        (error: Error) => ({ reply: id, error: error.message, ...(error instanceof Failure && { code: error.code }) }),
      );
    if (closed === undefined) end.send(reply);
  };
  end.on("message", (received) => {
    // Other messages hand connections over, see shared-listeners.ts.
    if (typeof received !== "object" || received === null) return;
    const message = received as Message;
    if ("call" in message) {
      void answer(message);
      return;
    }
    if (!("reply" in message)) return;
    const { reply, result, error, code } = message;
    const waiting = pending.get(reply);
    pending.delete(reply);
    if (error === undefined) waiting?.resolve(result as never);
    else waiting?.reject(code === undefined ? new Error(error) : fail(code, { public: error }));
  });
  return {
    call<Name extends string & keyof Remote>(
      name: Name,
      ...[request]: Parameters<Remote[Name]>
    ): Promise<Awaited<ReturnType<Remote[Name]>>> {
      if (closed !== undefined) return Promise.reject(closed);
      return new Promise((resolve, reject) => {
        const id = sent++;
        pending.set(id, { resolve, reject });
        end.send({ call: name, id, request });
      });
    },
    /** Fails all calls, after the other process has ended. */
    close(reason: string): void {
      closed = new Error(reason);
      for (const { reject } of pending.values()) reject(closed);
      pending.clear();
    },
  };
}
