import { choice, flag, integer, list, map, type Setting, text } from "./setting.ts";

/** Every setting of the service, by its dotted key. The reference page is made from this table. */
export const settings = {
  security_profile: choice(
    ["standard", "enterprise"],
    "standard",
    "`enterprise` closes every control that could fail open, and refuses settings that contradict it.",
  ),

  "server.http_addr": text(":8080", "Where the external plane listens: REST, Connect, gRPC, docs, health."),
  "server.grpc_addr": text("", "A further listener of the external plane for gRPC; none when empty."),
  "api.addr": text(":50052", "The native Connect and gRPC listener of the external plane; none when empty."),
  "server.metrics_addr": text(":9090", "Where `/metrics` is also served by itself; none when empty."),
  "server.internal_addr": text(
    ":8081",
    "Where the internal plane listens; none when empty. Other than loopback only with `server.internal_require_mtls`.",
  ),
  "server.internal_require_mtls": flag(
    false,
    "The internal plane takes only callers with a verified client certificate.",
  ),
  "server.internal_tls_cert_file": text("", "The internal plane's certificate (PEM)."),
  "server.internal_tls_key_file": text("", "The internal plane's private key (PEM)."),
  "server.internal_client_ca_file": text(
    "",
    "The authority that signs client certificates of the internal plane (PEM).",
  ),
  "server.header_timeout_s": integer(
    15,
    "How long a connection may take for its TLS handshake, its HTTP/2 preface or the headers of a request.",
    { minimum: 1 },
  ),
  "server.body_timeout_s": integer(
    30,
    "How long a request's body may take to arrive, and a whole answer to be read. A late body is answered with 408.",
    { minimum: 1 },
  ),
  "server.idle_timeout_s": integer(
    75,
    "How long a connection without a request is kept. Longer than a proxy in front keeps its own, so that it never uses one that is being closed.",
    { minimum: 1 },
  ),
  "server.max_connections": integer(10_000, "How many connections each plane of a node has at once.", { minimum: 1 }),
  "server.max_connections_per_address": integer(
    1000,
    "How many of them come from one address, other than those in `server.proxy_networks`.",
    { minimum: 1 },
  ),
  "server.proxy_networks": list(
    ["127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"],
    "Networks in CIDR form whose addresses may be proxies, which connect for many callers: only `server.max_connections` holds for them.",
  ),
  "server.drain_s": integer(
    1,
    "How long an instance that gets SIGTERM goes on serving new connections while `/ready` answers 503, so that a balancer in front learns of it. Ctrl-C skips it.",
  ),
  "server.shutdown_grace_s": integer(20, "How long a stopping instance waits for calls in flight."),

  "data.dir": text("./.data", "Where the embedded PostgreSQL and generated keys are kept."),
  "database.url": text("", "An external PostgreSQL (15 or newer); the embedded one when empty.", { secret: true }),
  "database.max_connections": integer(16, "How many connections this node opens at most.", {
    minimum: 3,
    maximum: 500,
  }),

  "cache.backend": choice(
    ["memory", "redis", "none"],
    "memory",
    "What counts rate limits: this node's memory, a Redis that all nodes share, or nothing.",
  ),
  "cache.redis_url": text("", "The Redis or Valkey to use, for example redis://127.0.0.1:6379.", { secret: true }),

  "auth.enabled": flag(
    true,
    "Callers must authenticate. `false` is for development: every caller is an admin of the first tenant.",
  ),
  "auth.api_key_enabled": flag(false, "API keys in `X-API-Key` are accepted."),
  "auth.allow_anonymous": flag(false, "For development: callers without credentials may read the first tenant."),
  "auth.tenant_claim": text("tenant_id", "The token claim that names the tenant."),
  "auth.roles_claim": text("roles", "The token claim that lists roles."),
  "auth.service_token_secret": text(
    "",
    "The secret of HS256 service tokens on the internal plane, 32 characters or more.",
    {
      secret: true,
    },
  ),
  "auth.bootstrap_api_key": text(
    "",
    "A key `sk_<env>_<key id>_<secret>` that becomes an admin of the first tenant at the start.",
    {
      secret: true,
    },
  ),
  "auth.bcrypt_cost": integer(10, "The cost of hashing API keys.", { minimum: 4, maximum: 15 }),
  "authz.provider": choice(
    ["builtin", "none"],
    "builtin",
    "What decides on authorization: the built-in roles and scopes, or nothing.",
  ),
  "authz.allow_when_unconfigured": flag(true, "Whether calls are allowed when `authz.provider` is `none`."),

  "api.oidc_issuer": text("", "The OpenID Connect issuer whose tokens are accepted; none when empty."),
  "api.oidc_audience": text("", "The audience that tokens must name."),
  "api.allowed_hosts": list(
    ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"],
    "Requests whose Host is not listed are refused; `*` allows any.",
  ),
  "api.max_request_body_size": integer(4 * 1024 * 1024, "The largest request body, in bytes.", { minimum: 1024 }),
  "api.max_concurrent_requests": integer(0, "How many calls run at once on this node; 0 for no limit."),
  "api.max_concurrent_requests_per_tenant": integer(
    0,
    "How many calls of one tenant run at once on this node; 0 for no limit.",
  ),
  "api.request_timeout_s": integer(
    30,
    "How long a call may take: a statement that takes longer is ended, a call that waits longer for a connection to the database is refused, and what is not done by then is undone.",
    { minimum: 1 },
  ),
  "api.slow_request_ms": integer(1000, "Calls that take longer are logged as slow."),
  "api.public_url": text("", "The address that callers use; the listener's own when empty."),
  "api.staging_url": text("", "The address of the staging installation, for the OpenAPI document."),
  "api.errors_url": text("", "Where error types are explained; `/errors` of this instance when empty."),
  "api.sunset_dates": map(
    "Removal dates of deprecated operations: `service.api.MemberService/ListTenantMembers=2027-01-31`.",
  ),
  "cors.allowed_origins": list([], "Origins whose browsers may call; `*` for any."),

  "egress.mode": choice(
    ["shadow", "enforce", "disabled"],
    "shadow",
    "What becomes of calls to addresses that tenants choose and that are not public: `enforce` refuses them, `shadow` logs and counts them, `disabled` does not look. The cloud's metadata addresses are refused in `shadow` too.",
  ),
  "egress.allowed_domains": list(
    [],
    "When set, only these names (`example.com`, `*.example.com`) and `egress.allowed_ip_nets` are to be reached.",
  ),
  "egress.allowed_ip_nets": list(
    [],
    "Networks in CIDR form that may be reached although they are private, for example 10.1.0.0/16.",
  ),

  "ratelimit.global_rps": integer(
    0,
    "Tokens a second for the whole instance; 0 for no limit. A call costs what its operation says, and one more for each 64 KiB of its body.",
  ),
  "ratelimit.tenant_rps": integer(
    0,
    "Tokens a second for each tenant; 0 for no limit. A call costs what its operation says, and one more for each 64 KiB of its body.",
  ),
  "ratelimit.burst_s": integer(2, "How many seconds' worth of tokens may be taken at once.", {
    minimum: 1,
    maximum: 3600,
  }),
  "ratelimit.fail_mode": choice(
    ["open", "closed"],
    "open",
    "Whether calls pass or are refused while the rate limiter cannot answer.",
  ),

  "connector.encryption_key": text(
    "",
    "The base64 32-byte master key of secrets and credentials; made and kept under `data.dir` with the embedded PostgreSQL.",
    { secret: true },
  ),
  "connector.encryption_key_id": text("k1", "The id of the active master key."),
  "connector.rotation_keys": map("Retired master keys that still decrypt: `id=base64key`.", { secret: true }),

  "notification.dispatch.enabled": flag(true, "Whether notifications are sent; managing them works either way."),
  "notification.dispatch.queue": choice(
    ["tiered", "flat", "none"],
    "tiered",
    "What keeps notifications that wait: `tiered` serves what is sent to one apart from broadcasts, `flat` serves both together, `none` keeps nothing, so that topics cannot be notified and nothing is tried twice. The enterprise profile demands `tiered`.",
  ),
  "notification.verified_endpoints_only": flag(
    false,
    "Whether notifications go only to addresses that subscribers have confirmed.",
  ),
  "notification.outbox.enabled": flag(
    false,
    "For development: what no integration serves is kept in the outbox and shown on `/outbox`, instead of failing.",
  ),
  "notification.payload_retention_days": integer(
    7,
    "How long what a notification carries is kept for later attempts; no longer than it is known who was in a topic.",
    { minimum: 1, maximum: 7 },
  ),
  "notification.retention_days": integer(30, "How long deliveries, inboxes and observations are kept.", { minimum: 1 }),

  "audit.sink": choice(["", "stderr", "stdout", "file"], "", "Where the audit log goes; nowhere when empty."),
  "audit.path": text("", "The audit log's file; `audit.log` under `data.dir` when empty."),
  "audit.hash_chain": flag(true, "Each audit line carries a SHA-256 over itself and the line before."),
  "audit.redact_pii": flag(false, "Addresses, phone numbers and IP addresses are redacted in the audit log."),

  "dynamic_config.enabled": flag(false, "Tenants may change their own settings while the service runs."),
  "tenant.purge_after_days": integer(30, "How long a deleted tenant's data is kept."),
  "queue.ended_retention_hours": integer(24, "How long items are kept after their end.", { minimum: 1 }),
  "routing.assign_poll_ms": integer(
    1000,
    "How often waiting items without a recipient are looked for; freed places and changes of pools do not wait for it.",
    { minimum: 100 },
  ),
  "routing.retention_days": integer(30, "How long decisions and outcomes are kept.", { minimum: 1 }),
  "events.retention_days": integer(30, "How long events are kept.", { minimum: 1 }),
  "webhooks.retention_days": integer(30, "How long webhook deliveries are kept after they have ended.", { minimum: 1 }),
  "idempotency.ttl_hours": integer(24, "How long answers are kept for repeated idempotency keys.", { minimum: 1 }),

  "telemetry.otlp_endpoint": text("", "Where OpenTelemetry traces go (OTLP over HTTP); none when empty."),
  "log.level": choice(
    ["debug", "info", "warn", "error", "silent"],
    "info",
    "The least important log lines that are written.",
  ),
} as const satisfies Record<string, Setting>;

/** A setting's key. */
export type SettingKey = keyof typeof settings;

/** The resolved settings. */
export type Config = { readonly [K in SettingKey]: (typeof settings)[K]["default"] extends infer D ? Widen<D> : never };

type Widen<T> = T extends string
  ? string extends T
    ? string
    : T
  : T extends number
    ? number
    : T extends boolean
      ? boolean
      : T;
