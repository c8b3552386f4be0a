import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { startReceiver } from "../../../../platform/egress/testing/receivers.ts";

export interface TokenRequest {
  readonly path: string;
  readonly authorization: string;
  readonly contentType: string;
  /** The fields of a form or JSON body. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Answers a request; undefined for the server's own behaviour. */
export type Script = (
  request: TokenRequest,
  response: ServerResponse,
) => boolean | undefined | Promise<boolean | undefined>;

/** An OAuth server on loopback with rotating refresh tokens, whose answers a test can replace. */
export interface TokenServer {
  readonly port: number;
  readonly requests: TokenRequest[];
  /** Answers requests before the server does; it takes over those for which it returns true. */
  script: Script | undefined;
  /** How long a spent refresh token is accepted. */
  graceMs: number;
  /** Whether answers contain a new refresh token. */
  rotates: boolean;
  /** The lifetime of access tokens; undefined to leave it out. */
  expiresInS: number | undefined;
  /** Issues tokens without a request. */
  issue(): { accessToken: string; refreshToken: string };
  /** Spends a refresh token, as a refresh does. */
  spend(refreshToken: string): void;
  /** Ends the validity of a token. */
  invalidate(token: string): void;
  isValid(accessToken: string): boolean;
  /** The number of answered refreshes. */
  refreshes(): number;
}

export async function startTokenServer(): Promise<TokenServer> {
  const accessTokens = new Set<string>();
  const refreshTokens = new Map<string, number>();
  let refreshes = 0;

  const fresh = (kind: string) => `${kind}-${randomBytes(12).toString("hex")}`;
  const issue = () => {
    const tokens = { accessToken: fresh("at"), refreshToken: fresh("rt") };
    accessTokens.add(tokens.accessToken);
    refreshTokens.set(tokens.refreshToken, Number.POSITIVE_INFINITY);
    return tokens;
  };

  const server: Omit<TokenServer, "port"> = {
    requests: [],
    script: undefined,
    graceMs: 0,
    rotates: true,
    expiresInS: 3600,
    issue,
    spend(token) {
      refreshTokens.set(token, Date.now() + server.graceMs - 1);
    },
    invalidate(token) {
      accessTokens.delete(token);
      refreshTokens.delete(token);
    },
    isValid: (token) => accessTokens.has(token),
    refreshes: () => refreshes,
  };

  function answerTokens(response: ServerResponse): void {
    const { accessToken, refreshToken } = issue();
    json(response, 200, {
      access_token: accessToken,
      token_type: "Bearer",
      ...(server.expiresInS !== undefined && { expires_in: server.expiresInS }),
      ...(server.rotates && { refresh_token: refreshToken }),
    });
  }

  function refresh(token: string, response: ServerResponse): void {
    const untilMs = refreshTokens.get(token);
    if (untilMs === undefined || untilMs < Date.now()) {
      json(response, 400, { error: "invalid_grant" });
      return;
    }
    refreshes++;
    if (server.rotates && untilMs === Number.POSITIVE_INFINITY) server.spend(token);
    answerTokens(response);
  }

  const receiver = await startReceiver(async (request, response) => {
    const received = await read(request);
    server.requests.push(received);
    if ((await server.script?.(received, response)) === true) return;
    const { path, fields, authorization } = received;
    if (path === "/token" && fields.grant_type === "refresh_token")
      return refresh(fields.refresh_token ?? "", response);
    if (path === "/token" || path === "/login") return answerTokens(response);
    if (path === "/revoke") {
      server.invalidate(fields.token ?? "");
      return void response.writeHead(200).end();
    }
    const isKnown = accessTokens.has(authorization.replace(/^Bearer /, ""));
    return isKnown
      ? json(response, 200, { id: 42, login: "ada" })
      : json(response, 401, { message: "Bad credentials" });
  });
  return Object.assign(server, { port: receiver.port });
}

async function read(request: IncomingMessage): Promise<TokenRequest> {
  const body = Buffer.concat(await request.toArray()).toString();
  const contentType = request.headers["content-type"] ?? "";
  const fields = contentType.includes("json") ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
  return { path: request.url!, authorization: request.headers.authorization ?? "", contentType, fields };
}

/** Answers with JSON. */
export function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
