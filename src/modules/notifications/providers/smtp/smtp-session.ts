import { isIP } from "node:net";
import { Readable } from "node:stream";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { CheckedAddress } from "../../../../platform/egress/index.ts";
import type { SendFailure } from "../domain/failure.ts";
import { failed } from "../domain/failure.ts";
import { type SmtpStage, smtpFailure } from "../domain/smtp-failure.ts";
import type { MailMessage } from "./mail-message.ts";

/** A mail server and how to connect to it. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly tls: "implicit" | "starttls" | "none";
  readonly username: string;
  readonly password: string;
  /** CA certificates (PEM) that replace the default ones. */
  readonly ca: string | undefined;
}

/** A connection to a mail server that sends mails one after another. */
export interface SmtpSession {
  /** Connects and logs in; undefined on success. */
  open(signal: AbortSignal): Promise<SendFailure | undefined>;
  /** Sends a mail; undefined when the server accepted it. `lost`: the connection closed before the server replied. */
  send(mail: MailMessage, signal: AbortSignal): Promise<{ failure: SendFailure; lost: boolean } | undefined>;
  readonly usable: boolean;
  close(): void;
}

const connectMs = 15_000;
const socketIdleMs = 30_000;
const chunkBytes = 64 * 1024;

interface SmtpError extends Error {
  readonly code?: string;
  readonly originalCode?: string;
  readonly response?: string;
  readonly command?: string;
}

/** Creates a session with a server at one resolved address. */
export function createSmtpSession(server: MailServer, { address }: CheckedAddress): SmtpSession {
  // Certificates are checked against the host name, not the address.
  const servername = isIP(server.host) === 0 ? server.host : undefined;
  const connection = new SMTPConnection({
    host: address,
    port: server.port,
    secure: server.tls === "implicit",
    requireTLS: server.tls === "starttls",
    ignoreTLS: server.tls === "none",
    ...(servername !== undefined && { servername }),
    tls: { minVersion: "TLSv1.2", rejectUnauthorized: true, ...(server.ca !== undefined && { ca: server.ca }) },
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: socketIdleMs,
    logger: false,
  });
  let ended = false;
  let failStep: ((error: Error) => void) | undefined;
  connection.on("error", (error: Error) => failStep?.(error));
  connection.on("end", () => {
    ended = true;
    // The error with the server's final reply may follow shortly, and has more detail.
    setImmediate(() => failStep?.(new Error("The connection ended.")));
  });

  /** Runs one step of the conversation until it ends, the connection closes or the signal is aborted. */
  async function step(
    signal: AbortSignal,
    start: (done: (error?: Error | null) => void) => void,
  ): Promise<SmtpError | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const interrupt = () => {
      reject(signal.reason);
      connection.close();
    };
    failStep = reject;
    signal.addEventListener("abort", interrupt, { once: true });
    try {
      if (signal.aborted) interrupt();
      else start((error) => (error ? reject(error) : resolve()));
      await promise;
      return undefined;
    } catch (error) {
      return error as SmtpError;
    } finally {
      failStep = undefined;
      signal.removeEventListener("abort", interrupt);
    }
  }

  function failureOf(error: SmtpError, stage: SmtpStage, signal: AbortSignal): SendFailure {
    if (signal.aborted && stage !== "content_sent") {
      const late = (signal.reason as { name?: unknown } | undefined)?.name === "TimeoutError";
      if (late) return failed("timeout", "The mail server took too long.");
      return failed("cancelled", "Sending was interrupted before the mail was sent.");
    }
    const codes = [error.code, error.originalCode].filter((code) => code !== undefined);
    return smtpFailure({ stage, reply: error.response ?? "", codes, command: error.command ?? "" });
  }

  return {
    get usable() {
      return !ended && !connection.destroyed;
    },

    async open(signal) {
      const connectError = await step(signal, (done) => connection.connect(done));
      if (connectError !== undefined) return failureOf(connectError, "connecting", signal);
      if (server.username === "") return undefined;
      const auth = { user: server.username, pass: server.password };
      const loginError = await step(signal, (done) => connection.login(auth, done));
      return loginError && failureOf(loginError, "authenticating", signal);
    },

    async send({ from, to, content }, signal) {
      const progress = { contentSent: false };
      // The library reads the mail only after the server has accepted DATA.
      const chunks = Readable.from(chunksOf(content, progress), { objectMode: false, highWaterMark: chunkBytes });
      const error = await step(signal, (done) =>
        connection.send({ from, to: [to], size: content.length }, chunks, (problem) => done(problem)),
      );
      chunks.destroy();
      if (error === undefined) return undefined;
      const failure = failureOf(error, progress.contentSent ? "content_sent" : "envelope", signal);
      return { failure, lost: failure.code === "unavailable" && error.response === undefined };
    },

    close() {
      connection.close();
    },
  };
}

/** Splits a mail into chunks. Once the last chunk is read, the server may have the whole mail. */
function* chunksOf(content: Buffer, progress: { contentSent: boolean }): Generator<Buffer> {
  for (let from = 0; from < content.length; from += chunkBytes) {
    if (from + chunkBytes >= content.length) progress.contentSent = true;
    yield content.subarray(from, from + chunkBytes);
  }
}
