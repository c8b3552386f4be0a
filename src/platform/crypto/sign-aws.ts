import { createHash, createHmac } from "node:crypto";
import { encodePart } from "../text/index.ts";

/** The request to sign, with an absolute URL that is already encoded. */
export interface AwsRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | undefined;
  /** The SHA-256 of a body that is streamed, in hexadecimal; `body` is then not read. */
  readonly payloadHash?: string;
}

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface AwsScope {
  readonly service: string;
  readonly region: string;
  readonly nowMs: number;
}

/** Signs a request with AWS Signature Version 4. Returns the headers to send, without `host`. */
export function signAws(request: AwsRequest, credentials: AwsCredentials, scope: AwsScope): Record<string, string> {
  const url = new URL(request.url);
  const time = new Date(scope.nowMs).toISOString().replace(/[:-]|\.\d{3}/g, "");
  const payloadHash = request.payloadHash ?? sha256(request.body ?? "");
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) headers[name.toLowerCase()] = value;
  headers["x-amz-date"] = time;
  if (credentials.sessionToken !== undefined) headers["x-amz-security-token"] = credentials.sessionToken;
  // S3 requires the hash as a header; other services accept its absence.
  if (scope.service === "s3") headers["x-amz-content-sha256"] = payloadHash;
  const signed: Record<string, string> = { ...headers, host: url.host };
  const names = Object.keys(signed).sort();
  const canonical = [
    request.method,
    canonicalPath(url.pathname, scope.service),
    canonicalQuery(url),
    ...names.map((name) => `${name}:${signed[name]!.trim().replace(/ +/g, " ")}`),
    "",
    names.join(";"),
    payloadHash,
  ].join("\n");
  const day = time.slice(0, 8);
  const credentialScope = `${day}/${scope.region}/${scope.service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", time, credentialScope, sha256(canonical)].join("\n");
  const key = [day, scope.region, scope.service, "aws4_request"].reduce<string | Buffer>(
    (each, part) => createHmac("sha256", each).update(part).digest(),
    `AWS4${credentials.secretAccessKey}`,
  );
  const signature = createHmac("sha256", key).update(toSign).digest("hex");
  headers.authorization = `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${credentialScope}, SignedHeaders=${names.join(";")}, Signature=${signature}`;
  return headers;
}

/** S3 signs the path as it is sent. All other services encode it once more. */
function canonicalPath(path: string, service: string): string {
  if (service === "s3") return path;
  return path.split("/").map(encodePart).join("/");
}

function canonicalQuery({ search }: URL): string {
  if (search.length <= 1) return "";
  return search
    .slice(1)
    .split("&")
    .map((pair) => {
      const at = pair.indexOf("=");
      return at < 0 ? ([pair, ""] as const) : ([pair.slice(0, at), pair.slice(at + 1)] as const);
    })
    .sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
}

function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}
