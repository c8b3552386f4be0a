import { isIP } from "node:net";
import { Readable } from "node:stream";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { CheckedAddress } from "../../../../platform/egress/index.ts";
import type { SendFailure } from "../domain/failure.ts";
import { failed } from "../domain/failure.ts";
import { type SmtpStage, smtpFailure } from "../domain/smtp-failure.ts";
import type { MailMessage } from "./mail-message.ts";

/** A mail server, and how to talk to it. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly tls: "implicit" | "starttls" | "none";
  readonly username: string;
  readonly password: string;
  /** Certificates of the authorities that are trusted instead of the usual ones (PEM). */
  readonly ca: string | undefined;
}

/** A connection to a mail server that takes one mail after another. */
export interface SmtpSession {
  /** Connects and logs in; undefined when that went well. */
  open(signal: AbortSignal): Promise<SendFailure | undefined>;
  /** Sends a mail; undefined when the server accepted it. `lost`: the connection was gone before anything was answered. */
  send(mail: MailMessage, signal: AbortSignal): Promise<{ failure: SendFailure; lost: boolean } | undefined>;
  readonly usable: boolean;
  close(): void;
}

const connectMs = 15_000;
const silenceMs = 30_000;
const pieceBytes = 64 * 1024;

interface SmtpError extends Error {
  readonly code?: string;
  readonly originalCode?: string;
  readonly response?: string;
  readonly command?: string;
}

/** Makes a session with a server at exactly one address. */
export function createSmtpSession(server: MailServer, { address }: CheckedAddress): SmtpSession {
  // Certificates are checked against the name, whichever address answers.
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
    socketTimeout: silenceMs,
    logger: false,
  });
  let ended = false;
  let giveUp: ((error: Error) => void) | undefined;
  connection.on("error", (error: Error) => giveUp?.(error));
  connection.on("end", () => {
    ended = true;
    // The reply that ended the session is told a moment later, and says more.
    setImmediate(() => giveUp?.(new Error("The connection ended.")));
  });

  /** Runs one step of the conversation to its end, or to that of the connection or the caller's patience. */
  async function step(
    signal: AbortSignal,
    start: (done: (error?: Error | null) => void) => void,
  ): Promise<SmtpError | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const interrupt = () => {
      reject(signal.reason);
      connection.close();
    };
    giveUp = reject;
    signal.addEventListener("abort", interrupt, { once: true });
    try {
      if (signal.aborted) interrupt();
      else start((error) => (error ? reject(error) : resolve()));
      await promise;
      return undefined;
    } catch (error) {
      return error as SmtpError;
    } finally {
      giveUp = undefined;
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
      const unconnected = await step(signal, (done) => connection.connect(done));
      if (unconnected !== undefined) return failureOf(unconnected, "connecting", signal);
      if (server.username === "") return undefined;
      const auth = { user: server.username, pass: server.password };
      const unknown = await step(signal, (done) => connection.login(auth, done));
      return unknown && failureOf(unknown, "authenticating", signal);
    },

    async send({ from, to, content }, signal) {
      const progress = { contentSent: false };
      // The library reads the mail only once the server has asked for it.
      const pieces = Readable.from(piecesOf(content, progress), { objectMode: false, highWaterMark: pieceBytes });
      const error = await step(signal, (done) =>
        connection.send({ from, to: [to], size: content.length }, pieces, (problem) => done(problem)),
      );
      pieces.destroy();
      if (error === undefined) return undefined;
      const failure = failureOf(error, progress.contentSent ? "content_sent" : "envelope", signal);
      return { failure, lost: failure.code === "unavailable" && error.response === undefined };
    },

    close() {
      connection.close();
    },
  };
}

/** A mail in pieces. From the moment that the last one is handed over, the server may have it all. */
function* piecesOf(content: Buffer, progress: { contentSent: boolean }): Generator<Buffer> {
  for (let from = 0; from < content.length; from += pieceBytes) {
    if (from + pieceBytes >= content.length) progress.contentSent = true;
    yield content.subarray(from, from + pieceBytes);
  }
}
