import { signAws } from "../../../../../platform/crypto/index.ts";
import { isJsonObject, type Json } from "../../../../../platform/document/index.ts";
import { isHeaderName, isHeaderValue } from "../../../../../platform/text/index.ts";
import { withValueAt } from "../json-pointer.ts";
import type { Action } from "../language/action.ts";
import type { AuthSpec } from "../language/auth/modes.ts";
import { httpMethods } from "../language/request.ts";
import type { Provider } from "../provider.ts";
import type { HttpMethod, HttpRequest, RenderFailure, RequestSpec } from "../request-spec.ts";
import type { PageState } from "../response-spec.ts";
import type { ValueTemplate } from "../template.ts";
import { type BodyContent, encodePairs, queryPairsOf, renderBody, serialise } from "./body.ts";
import { withSignedToken } from "./signed-token.ts";
import { joinUrl, renderPath, renderUrl } from "./url.ts";
import { nameOf, RenderError, type RequestValues, renderText, renderValue, requireText, resolve } from "./values.ts";

/** An action's additions to its request. */
export interface RequestOptions {
  readonly mutation?: Action["mutation"] | undefined;
  readonly paginate?: Action["paginate"] | undefined;
  /** Where to continue, from the previous answer. */
  readonly page?: PageState | undefined;
}

/** Headers that control framing and the recipient, and those that only the connection's authentication sets. */
const reservedHeaders =
  /^(host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|keep-alive|cookie|authorization|proxy-.*)$/;

/** Renders a request with its authentication. It sends nothing and needs no clock: a dry run shows exactly what is sent. */
export function renderRequest(
  provider: Provider,
  request: RequestSpec,
  values: RequestValues,
  options: RequestOptions = {},
): HttpRequest | RenderFailure {
  try {
    return render(provider, request, values, options);
  } catch (error) {
    if (error instanceof RenderError) return error.fault;
    throw error;
  }
}

function render(
  provider: Provider,
  request: RequestSpec,
  given: RequestValues,
  { mutation, paginate, page }: RequestOptions,
): HttpRequest {
  const auth = provider.auth(given.account.mode);
  if (auth === undefined) {
    const modes = provider.authModes.join(", ");
    throw new RenderError("unsupported_auth", "auth", `the provider supports ${modes}`);
  }
  const values = auth.mode === "signed_jwt" ? withSignedToken(auth, given) : given;
  const method = methodOf(request, values);
  const query = new Map<string, string[]>();
  const addQuery = (pairs: readonly (readonly [string, string])[]) => {
    for (const [name, value] of pairs) query.set(name, [...(query.get(name) ?? []), value]);
  };
  addQuery(queryPairsOf(request.query && (renderValue(request.query, values) as Json | undefined)));
  let content: BodyContent | undefined = request.body && renderBody(request.body, values);

  const place = (where: "query" | "body", name: string, value: string | number) => {
    if (where === "query") query.set(name, [String(value)]);
    else if (content === undefined) content = { kind: "json", value: withValueAt({}, pointerOf(name), value) };
    else if (content.kind !== "bytes") {
      content = { kind: content.kind, value: withValueAt(content.value, pointerOf(name), value) };
    }
  };
  const headers = renderHeaders(provider, request, values);
  const { keyIn } = mutation ?? {};
  if (keyIn !== undefined && values.idempotencyKey !== undefined) {
    if (keyIn.in === "header") headers.set(keyIn.name.toLowerCase(), values.idempotencyKey);
    else place(keyIn.in, keyIn.in === "query" ? keyIn.name : keyIn.pointer, values.idempotencyKey);
  }
  if (paginate?.size !== undefined) place(paginate.in, paginate.size.param, paginate.size.value);
  if (page?.next.kind === "param" && paginate?.param !== undefined) place(paginate.in, paginate.param, page.next.value);

  let url = urlOf(provider, request, auth, values);
  if (page?.next.kind === "url") {
    url = URL.parse(page.next.url, url)?.href ?? "";
    query.clear();
  }
  addQuery(authQuery(auth, values));
  const pairs = [...query].flatMap(([name, each]) => each.map((value) => [name, value] as const));
  if (pairs.length > 0) url += `${url.includes("?") ? "&" : "?"}${encodePairs(pairs)}`;

  const parsed = URL.parse(url);
  if (parsed === null) throw new RenderError("invalid_value", "url", "is not a valid URL");
  if (!provider.hosts.allows(parsed, values.account.settings)) {
    const hosts = provider.hosts.patterns.join(", ");
    throw new RenderError("host_not_allowed", "url", `reaches a host that the manifest does not declare: ${hosts}`);
  }
  const serialised = content && serialise(content);
  if (serialised !== undefined && !headers.has("content-type")) headers.set("content-type", serialised.type);
  const unsigned = { method, url: parsed.href, headers: Object.fromEntries(headers), body: serialised?.body };
  return { ...unsigned, headers: authHeaders(auth, unsigned, values) };
}

function methodOf({ method }: RequestSpec, values: RequestValues): HttpMethod {
  if (typeof method === "string") return method;
  const value = resolve(method, values);
  if (httpMethods.includes(value as HttpMethod)) return value as HttpMethod;
  throw new RenderError("invalid_value", nameOf(method), `must be one of ${httpMethods.join(", ")}`);
}

function urlOf(provider: Provider, request: RequestSpec, auth: AuthSpec, values: RequestValues): string {
  if (request.url !== undefined) return renderUrl(request.url, values);
  const base = "apply" in auth && auth.apply.baseUrl !== undefined ? auth.apply.baseUrl : provider.baseUrl;
  return joinUrl(renderUrl(base, values), request.path === undefined ? "" : renderPath(request.path, values));
}

function renderHeaders(provider: Provider, request: RequestSpec, values: RequestValues): Map<string, string> {
  const headers = new Map([
    ["accept", "application/json"],
    ["user-agent", "switchyard"],
  ]);
  for (const template of [provider.headers, request.headers]) {
    if (template === undefined) continue;
    const members = renderValue(template, values) as Json | undefined;
    if (members === undefined || members === null) continue;
    if (!isJsonObject(members)) throw new RenderError("invalid_value", "headers", "must be an object of texts");
    for (const [name, value] of Object.entries(members)) {
      if (value === null) continue;
      setHeader(headers, name, value, template);
    }
  }
  return headers;
}

function setHeader(headers: Map<string, string>, name: string, value: Json, template: ValueTemplate): void {
  const lower = name.toLowerCase();
  if (!isHeaderName(name)) throw new RenderError("invalid_value", "headers", "must have valid header names");
  // The compiler checks the names that a manifest writes. Only names from the input are left.
  if (template.kind === "placeholder" && reservedHeaders.test(lower)) {
    throw new RenderError("invalid_value", "headers", `must not set ${lower}: the connection sets it`);
  }
  if (typeof value === "object" || !isHeaderValue(String(value))) {
    throw new RenderError("invalid_value", `headers.${lower}`, "must be a text without control characters");
  }
  headers.set(lower, String(value));
}

function authQuery(auth: AuthSpec, values: RequestValues): [string, string][] {
  if (!("apply" in auth)) return [];
  return auth.apply.query.map(([name, value]) => [name, requireText(value, values)]);
}

function authHeaders(
  auth: AuthSpec,
  unsigned: { method: HttpMethod; url: string; headers: Record<string, string>; body: string | Buffer | undefined },
  values: RequestValues,
): Record<string, string> {
  const headers = { ...unsigned.headers };
  switch (auth.mode) {
    case "none":
      return headers;
    case "basic": {
      const pair = `${renderText(auth.username, values) ?? ""}:${renderText(auth.password, values) ?? ""}`;
      headers.authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
      return headers;
    }
    case "aws_sigv4": {
      const {
        access_key_id: accessKeyId,
        secret_access_key: secretAccessKey,
        session_token: sessionToken,
      } = values.account.credentials;
      if (accessKeyId === undefined || secretAccessKey === undefined) {
        throw new RenderError("missing_value", "credentials.secret_access_key", "has no value");
      }
      const region = requireText(auth.region, values);
      const scope = { service: auth.service, region, nowMs: values.nowMs };
      return signAws(unsigned, { accessKeyId, secretAccessKey, sessionToken }, scope);
    }
    default:
      for (const [name, value] of auth.apply.headers) {
        const header = requireText(name, values).toLowerCase();
        const text = requireText(value, values);
        if (!isHeaderName(header) || !isHeaderValue(text)) {
          throw new RenderError("invalid_value", "auth", "must be a valid header");
        }
        headers[header] = text;
      }
      return headers;
  }
}

function pointerOf(name: string): string {
  return name.startsWith("/") ? name : `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
