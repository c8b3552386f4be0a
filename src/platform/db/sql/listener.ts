import { setTimeout as delay } from "node:timers/promises";
import { Catalog } from "./catalog.ts";
import { Connection } from "./connection.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { Identifier } from "./statement.ts";

/** What a listener calls. */
export interface ListenerCalls {
  readonly onNotify: (payload: string) => void;
  /** Called whenever listening starts, at first and after each lost connection. */
  readonly onListen: () => void;
}

const retryMs = 250;

/** Listens on a channel, on a connection of its own that is made again whenever it is lost. */
export class Listener {
  private readonly connect: () => Promise<Connection>;
  private connection: Connection | undefined;
  private readonly stopping = new AbortController();

  private constructor(connect: () => Promise<Connection>) {
    this.connect = connect;
  }

  /** Resolves when listening has started, and fails when the first connection does. */
  static async start(url: string, settings: ConnectionSettings, channel: string, calls: ListenerCalls) {
    const catalog = new Catalog();
    const listener = new Listener(async () => {
      const connection = await Connection.open(url, settings, catalog);
      try {
        connection.onNotification((_, payload) => calls.onNotify(payload));
        await connection.runText(`listen ${new Identifier(channel).text}`);
      } catch (error) {
        connection.destroy();
        throw error;
      }
      calls.onListen();
      return connection;
    });
    await listener.listen();
    return listener;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.connection?.close();
  }

  private async listen(): Promise<void> {
    const connection = await this.connect();
    this.connection = connection;
    if (this.stopping.signal.aborted) return connection.close();
    connection.onLost = () => void this.listenAgain();
    if (connection.lost !== undefined) void this.listenAgain();
  }

  private async listenAgain(): Promise<void> {
    const { signal } = this.stopping;
    for (let isListening = false; !isListening && !signal.aborted; ) {
      isListening = await this.listen().then(
        () => true,
        () => false,
      );
      if (!isListening) await delay(retryMs, undefined, { signal }).catch(() => {});
    }
  }
}
