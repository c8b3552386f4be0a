import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { signAws } from "../crypto/index.ts";
import { type ObjectStore, ObjectStoreError, requireKey } from "./object-store.ts";
import { verifiedBody } from "./verified-body.ts";

/** Where a bucket is, and how to access it. */
export interface S3Settings {
  /** The URL of the server, for example `https://s3.eu-west-1.amazonaws.com`. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Put before every key. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  /** path: the bucket is in the path. host: the bucket is the first part of the host. */
  readonly addressing: "path" | "host";
}

/** A request about an object, or about the bucket. */
type Request = RequestParts & ({ readonly key: string } | { readonly query: string });

interface RequestParts {
  readonly method: "PUT" | "GET" | "HEAD" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly payloadHash?: string;
  readonly body?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal;
}

const idleTimeoutMs = 30_000;
const attemptsMax = 3;

/**
 * Stores objects in a bucket. One PUT stores an object whole or not at all: it announces the size, its signature covers
 * the digest, and the last part is withheld if the body is wrong. An object is not protected against a second PUT,
 * because its key is used for one expected digest only.
 */
export function createS3Store(settings: S3Settings, now: () => number): ObjectStore {
  const base = new URL(settings.endpoint);
  if (settings.addressing === "host") base.hostname = `${settings.bucket}.${base.hostname}`;
  const isSecure = base.protocol === "https:";
  const agentOf = (keepAlive: boolean) => {
    const options = { keepAlive, maxSockets: 256, timeout: idleTimeoutMs };
    return isSecure ? new HttpsAgent(options) : new HttpAgent(options);
  };
  const agents = [agentOf(true), agentOf(false)] as const;
  const bucketPath = settings.addressing === "path" ? `/${settings.bucket}` : "";
  const pathOf = (key: string) => `${bucketPath}/${settings.prefix}${key}`;

  function sendOnce(request: Request): Promise<IncomingMessage> {
    const { method, headers = {}, payloadHash, body, signal } = request;
    const url = new URL("query" in request ? `${bucketPath || "/"}?${request.query}` : pathOf(request.key), base).href;
    const signed = signAws(
      { method, url, headers, body: undefined, ...(payloadHash !== undefined && { payloadHash }) },
      settings,
      { service: "s3", region: settings.region, nowMs: now() },
    );
    return new Promise((resolve, reject) => {
      const send = isSecure ? httpsRequest : httpRequest;
      // A body cannot be sent again, so it gets a connection that the server is not about to close.
      const agent = agents[body === undefined ? 0 : 1];
      const request = send(url, { method, headers: signed, agent, ...(signal && { signal }) });
      let failure: unknown;
      request.on("timeout", () => request.destroy(new Error("The server did not respond in time.")));
      request.on("error", (error) => reject(failure ?? error));
      request.on("response", resolve);
      if (body === undefined) {
        request.end();
        return;
      }
      writeBody(request, body).catch((error: unknown) => {
        failure = error;
        request.destroy();
        reject(error);
      });
    });
  }

  /** Sends a request without a body. Lost connections, such as idle ones that the server has closed, are opened again. */
  async function send(request: Request): Promise<IncomingMessage> {
    if ("key" in request) requireKey(request.key);
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await sendOnce(request);
        if (response.statusCode! < 500 || attempt === attemptsMax) return response;
        await textOf(response);
      } catch (error) {
        request.signal?.throwIfAborted();
        if (attempt === attemptsMax) throw new ObjectStoreError(`${request.method} failed.`, { cause: error });
      }
    }
  }

  async function stat(key: string) {
    const response = await send({ method: "HEAD", key });
    await textOf(response);
    if (response.statusCode === 404) return undefined;
    if (response.statusCode !== 200) throw new ObjectStoreError(`HEAD returned ${response.statusCode}.`);
    const sha256 = response.headers[digestHeader];
    // Some servers keep what they received of an interrupted PUT. Such an object has no digest.
    return sha256 === undefined ? undefined : { sizeBytes: Number(response.headers["content-length"]), sha256 };
  }

  async function remove(key: string): Promise<void> {
    const response = await send({ method: "DELETE", key });
    const text = await textOf(response);
    if (response.statusCode === 404 || response.statusCode === 200 || response.statusCode === 204) return;
    throw new ObjectStoreError(`DELETE returned ${response.statusCode}${reasonIn(text)}`);
  }

  return {
    async put(key, body, expected, signal) {
      requireKey(key);
      const headers = {
        "content-type": "application/octet-stream",
        "content-length": String(expected.sizeBytes),
        [digestHeader]: expected.sha256,
      };
      const verified = watchErrors(verifiedBody(body, expected));
      let response: IncomingMessage;
      try {
        response = await sendOnce({
          ...{ method: "PUT", key, headers, body: verified.parts, signal },
          payloadHash: expected.sha256,
        });
      } catch (error) {
        signal.throwIfAborted();
        if (verified.failed()) throw verified.error();
        throw new ObjectStoreError("PUT failed.", { cause: error });
      }
      const text = await textOf(response);
      if (response.statusCode !== 200)
        throw new ObjectStoreError(`PUT returned ${response.statusCode}${reasonIn(text)}`);
      const stored = await stat(key);
      if (stored?.sizeBytes !== expected.sizeBytes || stored.sha256 !== expected.sha256) {
        throw new ObjectStoreError("The server does not have the object that it accepted.");
      }
    },
    stat,
    async read(key, { firstByte, byteCount }, signal) {
      const range = `bytes=${firstByte}-${firstByte + byteCount - 1}`;
      const response = await send({ method: "GET", key, headers: { range }, signal });
      if (response.statusCode === 206) {
        return { [Symbol.asyncIterator]: () => limitedTo(byteCount, response), close: () => response.destroy() };
      }
      const text = await textOf(response);
      if (response.statusCode === 404) return undefined;
      throw new ObjectStoreError(`GET returned ${response.statusCode}${reasonIn(text)}`);
    },
    async *list(prefix) {
      // The first version of this call, which every server has. A marker is a key, so it never expires.
      for (let marker: string | undefined = ""; marker !== undefined; ) {
        const query = `marker=${encodeURIComponent(marker)}&prefix=${encodeURIComponent(settings.prefix + prefix)}`;
        const response = await send({ method: "GET", query });
        const text = await textOf(response, listBytesMax);
        if (response.statusCode !== 200)
          throw new ObjectStoreError(`GET returned ${response.statusCode}${reasonIn(text)}`);
        const isLast = elementOf(text, "IsTruncated") !== "true";
        marker = undefined;
        // The keys of a store are plain names, which XML leaves as they are.
        for (const [content] of text.matchAll(/<Contents>.*?<\/Contents>/gs)) {
          const name = elementOf(content, "Key")!;
          if (!isLast) marker = name;
          yield {
            key: name.slice(settings.prefix.length),
            sizeBytes: Number(elementOf(content, "Size")),
            storedAtMs: Date.parse(elementOf(content, "LastModified")!),
          };
        }
      }
    },
    remove,
    // A write that did not end leaves nothing in a bucket.
    removeAbandonedWrites: async () => 0,
    close() {
      for (const agent of agents) agent.destroy();
    },
  };
}

const digestHeader = "x-amz-meta-sha256";

async function writeBody(request: ClientRequest, body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const part of body) {
    if (request.destroyed) return;
    if (!request.write(part)) await writable(request);
  }
  request.end();
}

function writable(request: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const proceed = () => {
      request.off("drain", proceed).off("close", proceed);
      resolve();
    };
    request.on("drain", proceed).on("close", proceed);
  });
}

/** Tells errors of the body from errors of the connection that it is sent over. */
function watchErrors(parts: AsyncIterable<Uint8Array>) {
  let thrown: { readonly error: unknown } | undefined;
  async function* watched(): AsyncGenerator<Uint8Array> {
    try {
      yield* parts;
    } catch (error) {
      thrown = { error };
      throw error;
    }
  }
  return { parts: watched(), failed: () => thrown !== undefined, error: () => thrown?.error };
}

/** Yields the first bytes of a response. Some servers send more than the requested range. */
async function* limitedTo(byteCount: number, response: IncomingMessage): AsyncGenerator<Uint8Array> {
  let missing = byteCount;
  for await (const part of response as AsyncIterable<Buffer>) {
    if (part.length >= missing) {
      yield part.subarray(0, missing);
      return;
    }
    missing -= part.length;
    yield part;
  }
  throw new ObjectStoreError("The server sent less than the requested range.");
}

const errorTextMax = 2000;
/** A list has at most a thousand keys of a thousand bytes. */
const listBytesMax = 4 * 2 ** 20;

async function textOf(response: IncomingMessage, charactersMax = errorTextMax): Promise<string> {
  let text = "";
  for await (const part of response) if (text.length < charactersMax) text += part;
  return text.slice(0, charactersMax);
}

/** The reason in an error of S3. The rest may repeat the request, with the token of temporary credentials. */
function reasonIn(xml: string): string {
  const parts = [elementOf(xml, "Code"), elementOf(xml, "Message")].filter((part) => part !== undefined);
  return parts.length === 0 ? "." : `: ${parts.join(": ")}`;
}

function elementOf(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
}
