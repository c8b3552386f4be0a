import { isIPv6 } from "node:net";
import type { Clock } from "../clock/clock.ts";
import type { Log } from "../log/log.ts";
import type { Metrics } from "../telemetry/index.ts";
import { createAgents, pinTo } from "./agents.ts";
import { type CheckedAddress, type Egress, type EgressCall, EgressError } from "./egress.ts";
import { exchange } from "./exchange.ts";
import { createPolicy, type Objection, type PolicySettings } from "./policy.ts";
import { type Resolver, systemResolver } from "./resolver.ts";
import { readHost, readTarget, urlRefusal } from "./target.ts";

/** The way out, and what its owner does with it. */
export interface EgressGuard extends Egress {
  /** Why a URL that is about to be stored can never be called; undefined when it may be. */
  urlRefusal(url: string): string | undefined;
  /** Lets go of connections that were kept for later. */
  close(): void;
}

interface Options extends PolicySettings {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly resolver?: Resolver;
  /** Certificates of the authorities that are trusted instead of the usual ones (PEM). */
  readonly ca?: string;
}

const resolveMs = 10_000;
const minuteMs = 60_000;
const hostsNotedMax = 1000;
const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Headers that decide how a message is framed and whom it is for: they are not a caller's to set. */
const ownHeaders =
  /^(host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|keep-alive|proxy-.*)$/i;

/** Makes the way out of this node. */
export function createEgress({
  log,
  metrics,
  clock,
  resolver = systemResolver(),
  ca,
  ...settings
}: Options): EgressGuard {
  const policy = createPolicy(settings);
  const agents = createAgents(ca);
  const objections = metrics.counter({
    name: "egress_objections_total",
    help: "Connections that the egress policy objects to, by reason, and whether they were refused or let through.",
    labels: ["reason", "outcome"],
  });
  const notedInMinute = new Map<string, number>();

  /** Every address of a host, when all of them may be reached: a name with one bad address is a bad name. */
  async function check(host: string, isAddress: boolean, signal: AbortSignal): Promise<readonly CheckedAddress[]> {
    const addresses = isAddress ? [asAddress(host)] : await addressesOf(host, signal);
    const found = addresses.flatMap(({ address }) => policy.objectionTo(host, address) ?? []);
    const refused = found.find(policy.refuses);
    if (refused !== undefined) {
      note(host, refused, "refused");
      throw new EgressError("denied", `${host} may not be reached.`, false);
    }
    if (found[0] !== undefined) note(host, found[0], "let_through");
    return addresses;
  }

  async function addressesOf(host: string, signal: AbortSignal): Promise<readonly CheckedAddress[]> {
    const failed = (cause?: unknown) => new EgressError("dns_failed", `${host} has no address.`, false, cause);
    const answered = resolver(host).catch((cause) => Promise.reject(failed(cause)));
    const addresses = await Promise.race([answered, rejectionOf(signal)]);
    if (addresses.length === 0) throw failed();
    // IPv4 first: where IPv6 has no way out, its addresses only cost time.
    return addresses.toSorted((one, other) => one.family - other.family);
  }

  function note(host: string, reason: Objection, outcome: "refused" | "let_through"): void {
    objections.inc({ reason, outcome });
    const minute = Math.floor(clock.now() / minuteMs);
    if (notedInMinute.get(host) === minute) return;
    if (notedInMinute.size >= hostsNotedMax) notedInMinute.clear();
    notedInMinute.set(host, minute);
    log.warn({ host, reason, outcome }, "the egress policy objects to a host");
  }

  return {
    async request(call) {
      const target = readTarget(call.url);
      if (typeof target === "string") throw new EgressError("invalid_url", `The URL ${target}.`, false);
      refuseHead(call);
      return withLimits(call, target.host, async (signal) => {
        const addresses = await check(target.host, target.isAddress, signal);
        return exchange({ target, call, pin: pinTo(addresses), agents, signal });
      });
    },

    async resolve(text) {
      const target = readHost(text);
      if (target === undefined) throw new EgressError("invalid_url", "This is not a host.", false);
      const { host, isAddress } = target;
      return withLimits({ timeoutMs: resolveMs }, host, async (signal) => (await check(host, isAddress, signal))[0]!);
    },

    urlRefusal: (url) => urlRefusal(url, policy),

    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

function asAddress(address: string): CheckedAddress {
  return { address, family: isIPv6(address) ? 6 : 4 };
}

function refuseHead({ method, headers = {} }: EgressCall): void {
  const taken = Object.keys(headers).find((name) => ownHeaders.test(name));
  if (taken !== undefined) throw new EgressError("invalid_url", `The header ${taken} cannot be set.`, false);
  if (!methods.has(method)) throw new EgressError("invalid_url", `The method ${method} cannot be used.`, false);
}

/** Gives work a signal that ends it when its time is up or its caller leaves; the reason is an EgressError. */
async function withLimits<T>(
  { timeoutMs, signal }: Pick<EgressCall, "timeoutMs" | "signal">,
  host: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limits = new AbortController();
  const late = () => limits.abort(new EgressError("timeout", `${host} took more than ${timeoutMs} ms.`, false));
  const cancel = () => limits.abort(new EgressError("cancelled", "The call was cancelled.", false));
  const timer = setTimeout(late, timeoutMs);
  signal?.addEventListener("abort", cancel);
  try {
    if (signal?.aborted) cancel();
    limits.signal.throwIfAborted();
    return await work(limits.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", cancel);
  }
}

function rejectionOf(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  return promise;
}
