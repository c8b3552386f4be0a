import { isIPv6 } from "node:net";
import { BoundedCache } from "../cache/bounded-cache.ts";
import type { Clock } from "../clock/clock.ts";
import { DecompressionError, decompress } from "../compression/decompress.ts";
import type { Log } from "../log/log.ts";
import type { Metrics } from "../telemetry/index.ts";
import { createAgents, pinTo } from "./agents.ts";
import {
  bytesMaxDefault,
  type CheckedAddress,
  type Egress,
  type EgressCall,
  EgressError,
  type EgressResponse,
} from "./egress.ts";
import { exchange } from "./exchange.ts";
import { createHttp2Sessions } from "./http2-exchange.ts";
import { createPolicy, type Objection, type PolicySettings } from "./policy.ts";
import { createSystemResolver, createTextLookup, type Resolver } from "./resolver.ts";
import { rejectionOf } from "./signal-rejection.ts";
import { parseHost, parseTarget, urlRefusal } from "./target.ts";

/** Egress together with its policy check and its lifecycle. */
export interface EgressGuard extends Egress {
  /** Why a URL must not be stored, because it can never be called; undefined if it may be. */
  urlRefusal(url: string): string | undefined;
  /** The TXT records of a name; none if there are none, or if no name server responds. */
  lookUpTexts(name: string): Promise<readonly string[]>;
  /** Closes idle connections. */
  close(): void;
}

interface Options extends PolicySettings {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Addresses of name servers; those of the system if there are none. */
  readonly nameServers?: readonly string[];
  readonly resolver?: Resolver;
  /** Certificates (PEM) of the authorities to trust instead of the default ones. */
  readonly ca?: string;
}

const resolveMs = 10_000;
const minuteMs = 60_000;
const reportedHostsMax = 1000;
const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Headers that control message framing and the recipient. Callers must not set them. */
const forbiddenHeaders =
  /^(host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|keep-alive|proxy-.*)$/i;

export function createEgress({
  log,
  metrics,
  clock,
  nameServers = [],
  resolver = createSystemResolver(nameServers),
  ca,
  ...settings
}: Options): EgressGuard {
  const policy = createPolicy(settings);
  const agents = createAgents(ca);
  const sessions = createHttp2Sessions(ca);
  const objections = metrics.counter({
    name: "egress_objections_total",
    help: "Connections that the egress policy objects to, by reason and outcome (refused or let through).",
    labels: ["reason", "outcome"],
  });
  const reportedInMinute = new BoundedCache<string, number>(reportedHostsMax);

  /** Returns every address of a host; throws if the policy refuses any of them. */
  async function check(host: string, isAddress: boolean, signal: AbortSignal): Promise<readonly CheckedAddress[]> {
    const addresses = isAddress ? [toCheckedAddress(host)] : await addressesOf(host, signal);
    const found = addresses.flatMap(({ address }) => policy.objectionTo(host, address) ?? []);
    const refused = found.find(policy.refuses);
    if (refused !== undefined) {
      report(host, refused, "refused");
      throw new EgressError("denied", `The egress policy does not allow connections to ${host}.`, false);
    }
    if (found[0] !== undefined) report(host, found[0], "let_through");
    return addresses;
  }

  async function addressesOf(host: string, signal: AbortSignal): Promise<readonly CheckedAddress[]> {
    const failed = (cause?: unknown) =>
      new EgressError("dns_failed", `${host} could not be resolved to an address.`, false, cause);
    const answered = resolver(host).catch((cause) => Promise.reject(failed(cause)));
    const addresses = await Promise.race([answered, rejectionOf(signal)]);
    if (addresses.length === 0) throw failed();
    // IPv4 first, because connecting over IPv6 only costs time where IPv6 is not routed.
    return addresses.toSorted((one, other) => one.family - other.family);
  }

  function report(host: string, reason: Objection, outcome: "refused" | "let_through"): void {
    objections.inc({ reason, outcome });
    const minute = Math.floor(clock.now() / minuteMs);
    if (reportedInMinute.get(host) === minute) return;
    reportedInMinute.set(host, minute);
    log.warn({ host, reason, outcome }, "the egress policy objects to a host");
  }

  return {
    async request(call) {
      const target = parseTarget(call.url);
      if (typeof target === "string") throw new EgressError("invalid_url", `The URL ${target}.`, false);
      validateHead(call);
      return withLimits(call, target.host, async (signal) => {
        const addresses = await check(target.host, target.isAddress, signal);
        const pin = pinTo(addresses);
        const response = await (call.http2
          ? sessions.exchange({ target, call, pin, signal })
          : exchange({ target, call, pin, agents, signal }));
        return decoded(response, call.bytesMax ?? bytesMaxDefault);
      });
    },

    async resolve(text) {
      const target = parseHost(text);
      if (target === undefined)
        throw new EgressError(
          "invalid_url",
          "The host must be a name or an IP address (for example: smtp.example.com).",
          false,
        );
      const { host, isAddress } = target;
      return withLimits({ timeoutMs: resolveMs }, host, async (signal) => (await check(host, isAddress, signal))[0]!);
    },

    urlRefusal: (url) => urlRefusal(url, policy),
    lookUpTexts: createTextLookup(nameServers),

    close() {
      agents.http.destroy();
      agents.https.destroy();
      sessions.close();
    },
  };
}

function toCheckedAddress(address: string): CheckedAddress {
  return { address, family: isIPv6(address) ? 6 : 4 };
}

/** Decodes a compressed body: servers send one although no request asks for it. Other encodings are left to the caller. */
async function decoded(response: EgressResponse, bytesMax: number): Promise<EgressResponse> {
  const { "content-encoding": named, "content-length": _, ...headers } = response.headers;
  const encoding = named?.trim().toLowerCase();
  if ((encoding !== "gzip" && encoding !== "br") || response.body.length === 0) return response;
  try {
    return { ...response, headers, body: await decompress(encoding, response.body, bytesMax) };
  } catch (error) {
    if (!(error instanceof DecompressionError)) throw error;
    if (error.reason === "too_large") {
      throw new EgressError("too_large", `The response has more than ${bytesMax} bytes.`, true, error);
    }
    throw new EgressError("connection_lost", `The response is not complete ${encoding} data.`, true, error);
  }
}

function validateHead({ method, headers = {} }: EgressCall): void {
  const taken = Object.keys(headers).find((name) => forbiddenHeaders.test(name));
  if (taken !== undefined)
    throw new EgressError("invalid_url", `The header ${taken} is set by the service and cannot be overridden.`, false);
  if (!methods.has(method))
    throw new EgressError(
      "invalid_url",
      `The method ${method} is not supported; use one of ${[...methods].join(", ")}.`,
      false,
    );
}

/** Runs work with a signal that is aborted on a timeout or when the caller cancels; the reason is an EgressError. */
async function withLimits<T>(
  { timeoutMs, signal }: Pick<EgressCall, "timeoutMs" | "signal">,
  host: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limits = new AbortController();
  const onTimeout = () => limits.abort(new EgressError("timeout", `${host} took more than ${timeoutMs} ms.`, false));
  const onCancel = () => limits.abort(new EgressError("cancelled", "The call was cancelled.", false));
  const timer = setTimeout(onTimeout, timeoutMs);
  signal?.addEventListener("abort", onCancel);
  try {
    if (signal?.aborted) onCancel();
    limits.signal.throwIfAborted();
    return await work(limits.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onCancel);
  }
}
