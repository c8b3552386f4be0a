import type { RedisOptions } from "ioredis";
import { backoffMs } from "../backoff/backoff.ts";

/**
 * The options of a connection to Redis or Valkey that is only ever a help: a command fails at once when there is no connection, and
 * is never repeated. Connecting may take ten times as long as a command.
 */
export function redisOptions(commandTimeoutMs: number) {
  const connectTimeout = 10 * commandTimeoutMs;
  return {
    connectTimeout,
    commandTimeout: commandTimeoutMs,
    // An unresponsive connection is closed, so that one to a vanished host does not stay open for minutes.
    socketTimeout: 2 * connectTimeout,
    disconnectTimeout: commandTimeoutMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (tries: number) => backoffMs({ firstMs: 100, maxMs: 250 }, tries),
  } satisfies RedisOptions;
}
