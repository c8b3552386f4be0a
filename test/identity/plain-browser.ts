import { once } from "node:events";
import http from "node:http";
import { text } from "node:stream/consumers";

/** A response as a browser without scripts sees it. */
export interface BrowserResponse {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** The body as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they expect.
  json(): any;
}

interface SendOptions {
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A browser with cookies, which does exactly what a test says. It follows no redirects and runs no scripts. */
export class PlainBrowser {
  static #count = 0;
  readonly cookies = new Map<string, string>();
  /** Each browser has its own address, because the service limits the refusals of an address. Only Linux has more than one. */
  readonly #localAddress = process.platform === "linux" ? addressOf(++PlainBrowser.#count) : undefined;

  /** Sends a request of a page of the same origin, unless the headers say something else. */
  async send(method: string, url: string, options: SendOptions = {}): Promise<BrowserResponse> {
    const body =
      options.form !== undefined
        ? new URLSearchParams(options.form).toString()
        : options.json === undefined
          ? undefined
          : JSON.stringify(options.json);
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = {
      "user-agent": "PlainBrowser",
      "sec-fetch-site": "same-origin",
      ...(options.form && { "content-type": "application/x-www-form-urlencoded" }),
      ...(options.json !== undefined && { "content-type": "application/json" }),
      ...(cookie !== "" && { cookie }),
      ...options.headers,
    };
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ""));
    const request = http.request(url, { method, headers: sent, agent: false, localAddress: this.#localAddress });
    request.end(body);
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    for (const header of response.headers["set-cookie"] ?? []) this.#keep(header);
    const content = await text(response);
    return {
      ...{ status: response.statusCode!, headers: response.headers, body: content },
      json: () => JSON.parse(content),
    };
  }

  #keep(header: string): void {
    const [pair] = header.split(";");
    const at = pair!.indexOf("=");
    if (/max-age=0/i.test(header)) this.cookies.delete(pair!.slice(0, at));
    else this.cookies.set(pair!.slice(0, at), pair!.slice(at + 1));
  }

  /** Opens a login link as its page does. */
  async openLink(url: string): Promise<BrowserResponse> {
    const { origin, hash } = new URL(url);
    const token = new URLSearchParams(hash.slice(1)).get("token")!;
    return this.send("POST", `${origin}/auth/link`, { form: { token } });
  }

  /** The value of a hidden field in a page. */
  hidden({ body }: BrowserResponse, name: string): string {
    return new RegExp(`name="${name}" value="([^"]*)"`).exec(body)![1]!;
  }
}

/** The nth loopback address after 127.0.1.0. */
function addressOf(nth: number): string {
  return `127.0.${1 + (nth >> 8)}.${nth & 255}`;
}
