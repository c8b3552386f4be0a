import { text as readText } from "node:stream/consumers";
import { sendHttp } from "./http-client.ts";

/** A REST client. */
export interface RestClient {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<RestResponse>;
}

/** A REST response. */
export interface RestResponse {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  readonly body: any;
  readonly text: string;
}

/** Creates a REST client, with or without a key. */
export function restClient(baseUrl: string, key?: string): RestClient {
  return {
    async call(method, path, body, headers = {}) {
      const response = await sendHttp(baseUrl + path, {
        method,
        headers: {
          ...(key !== undefined && { "x-api-key": key }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await readText(response.body);
      const isJson = text !== "" && response.headers.get("content-type")?.includes("json");
      return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
    },
  };
}
