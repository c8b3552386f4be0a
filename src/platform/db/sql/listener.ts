import { setTimeout as delay } from "node:timers/promises";
import { Connection } from "./connection.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { Catalog } from "./statement/catalog.ts";
import { Identifier } from "./statement/statement.ts";

/** The callbacks of a listener. */
interface ListenerCalls {
  readonly onNotify: (payload: string) => void;
  /** Called when listening starts, and again after each reconnect. */
  readonly onListen: () => void;
}

const retryMs = 250;
/** The timeout of the LISTEN statement. */
const listenMs = 5000;
/**
 * The interval of health checks on an idle connection. A connection without a response at the next check is closed. The
 * interval is shorter when the allowed silence is shorter.
 */
const checkMs = 10_000;

/** Listens on a channel, on its own connection, and reconnects when the connection is lost. */
export class Listener {
  private readonly connect: () => Promise<Connection>;
  private readonly statement: string;
  private readonly calls: ListenerCalls;
  private readonly checkMs: number;
  private readonly stopping = new AbortController();
  private connection: Connection | undefined;

  private constructor(url: string, settings: ConnectionSettings, channel: string, calls: ListenerCalls) {
    const catalog = new Catalog();
    this.connect = () => Connection.open(url, settings, catalog);
    this.statement = `listen ${new Identifier(channel).text}`;
    this.calls = calls;
    this.checkMs = Math.min(checkMs, settings.silenceMs ?? checkMs);
  }

  /** Resolves when listening has started; rejects when the first connection fails. */
  static async start(url: string, settings: ConnectionSettings, channel: string, calls: ListenerCalls) {
    const listener = new Listener(url, settings, channel, calls);
    await listener.listen();
    return listener;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.connection?.close();
  }

  private async listen(): Promise<void> {
    const connection = await this.connect();
    connection.onNotification((_, payload) => this.calls.onNotify(payload));
    this.connection = connection;
    const unanswered = setTimeout(() => connection.destroy(), listenMs);
    try {
      await connection.runText(this.statement);
    } catch (error) {
      connection.destroy();
      throw error;
    } finally {
      clearTimeout(unanswered);
    }
    const timer = setInterval(() => this.check(connection), this.checkMs).unref();
    const onLost = () => {
      clearInterval(timer);
      void this.listenAgain();
    };
    connection.onLost = onLost;
    if (connection.lost !== undefined) onLost();
    else if (this.stopping.signal.aborted) await connection.close();
    else this.calls.onListen();
  }

  /** A repeated LISTEN has no effect and shows whether the server responds. */
  private check(connection: Connection): void {
    if (connection.load > 0) connection.destroy();
    else connection.runText(this.statement).catch(() => {});
  }

  private async listenAgain(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        return await this.listen();
      } catch {
        await delay(retryMs, undefined, { signal }).catch(() => {});
      }
    }
  }
}
