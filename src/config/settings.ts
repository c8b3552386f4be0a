import { choice, flag, integer, integerOr, list, map, type Setting, text } from "./setting.ts";

/** Every setting of the service, by its dotted key. The reference page is generated from this table. */
export const settings = {
  security_profile: choice(
    ["standard", "enterprise"],
    "standard",
    "`enterprise` sets every security control to its strict value and rejects settings that weaken one.",
  ),

  "server.processes": integerOr(
    "auto",
    "Number of processes that serve on this machine, each a node on the same addresses. `auto`: one less than the processors, and 1 with fewer than four. Limits per node, such as `database.max_connections`, are divided among the processes.",
    { minimum: 1, maximum: 256 },
  ),
  "server.http_addr": text(
    ":8080",
    "Address (`host:port`) of the external plane: REST, Connect, gRPC, API docs and health checks.",
  ),
  "server.grpc_addr": text("", "Additional address of the external plane for gRPC. Empty: no additional listener."),
  "api.addr": text(":50052", "Address of the external plane's native Connect and gRPC listener. Empty: no listener."),
  "server.metrics_addr": text(":9090", "Address of a listener that serves only `/metrics`. Empty: no listener."),
  "server.metrics_private": flag(
    false,
    "Whether `/metrics` is served only by the listener of `server.metrics_addr`, and not by the planes.",
  ),
  "server.internal_addr": text(
    ":8081",
    "Address of the internal plane. Empty: no listener. An address other than loopback requires `server.internal_require_mtls`.",
  ),
  "server.internal_require_mtls": flag(
    false,
    "Whether callers of the internal plane must present a verified client certificate.",
  ),
  "server.internal_tls_cert_file": text("", "Path of the internal plane's TLS certificate (PEM)."),
  "server.internal_tls_key_file": text("", "Path of the internal plane's TLS private key (PEM)."),
  "server.internal_client_ca_file": text(
    "",
    "Path of the CA certificate (PEM) that verifies client certificates on the internal plane.",
  ),
  "server.header_timeout_s": integer(
    15,
    "Time limit for a TLS handshake, an HTTP/2 preface, or a request's headers, in seconds.",
    { minimum: 1 },
  ),
  "server.body_timeout_s": integer(
    30,
    "Time limit for receiving a request's body, and for a caller to read a whole response, in seconds. A body that takes longer gets HTTP 408.",
    { minimum: 1 },
  ),
  "server.idle_timeout_s": integer(
    75,
    "Seconds before an idle connection is closed. Set it higher than the idle timeout of a proxy in front, so that the proxy never reuses a connection that is being closed.",
    { minimum: 1 },
  ),
  "server.max_connections": integer(10_000, "Maximum number of open connections per node and plane.", { minimum: 1 }),
  "server.max_connections_per_address": integer(
    1000,
    "Maximum number of open connections from one IP address. Addresses in `server.proxy_networks` are exempt.",
    { minimum: 1 },
  ),
  "server.proxy_networks": list(
    ["127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"],
    "Networks (CIDR) of proxies, which connect on behalf of many callers. Only `server.max_connections` limits their connections.",
  ),
  "server.client_address_header": text(
    "",
    "Header in which the proxies of `server.proxy_networks` name the client, for example `X-Forwarded-For`. Limits, sessions and the audit log then have the client's address. Set it only if every proxy appends to the header or replaces it. Empty: the address of the connection.",
  ),
  "server.drain_s": integer(
    1,
    "Seconds that an instance continues to accept connections after SIGTERM. `/ready` returns 503 meanwhile, so that load balancers stop routing to it. Ctrl-C skips the wait.",
  ),
  "server.shutdown_grace_s": integer(20, "Seconds that a stopping instance waits for calls in flight."),
  "server.region": text(
    "local",
    "The region of this node. It refuses access to workflow streams that are not pinned to this region.",
  ),

  "data.dir": text("./.data", "Directory of the embedded PostgreSQL's data and of generated keys."),
  "database.url": text(
    "",
    "URL of an external PostgreSQL 15 or newer, for example `postgres://user:password@db.example:5432/switchyard`. Empty: the embedded PostgreSQL.",
    { secret: true },
  ),
  "database.read_url": text(
    "",
    "URL of a streaming replica of the external PostgreSQL. Lists, reports and exports are read there once it has every change that was acknowledged before, and otherwise from `database.url`. A node opens up to `database.max_connections` connections to it as well. Empty: none.",
    { secret: true },
  ),
  "database.listen_url": text(
    "",
    "URL of the same database for the connection that listens for signals. Needed when `database.url` leads to a pooler in transaction mode. Empty: `database.url`.",
    { secret: true },
  ),
  "database.max_connections": integer(16, "Maximum number of database connections per node.", {
    minimum: 3,
    maximum: 500,
  }),

  "objects.backend": choice(
    ["file", "s3"],
    "file",
    "Where large objects are stored. `file`: in a directory, which all nodes must share. `s3`: in a bucket of any S3-compatible server.",
  ),
  "objects.file.dir": text("", "Directory of large objects for the `file` backend. Empty: `objects` in `data.dir`."),
  "objects.s3.endpoint": text(
    "",
    "URL of the S3-compatible server, for example `http://127.0.0.1:9000`. Empty: Amazon S3 in `objects.s3.region`.",
  ),
  "objects.s3.region": text("us-east-1", "Region of the bucket, as requests are signed for it."),
  "objects.s3.bucket": text("", "Name of the bucket. Required when `objects.backend` is `s3`."),
  "objects.s3.prefix": text("", "Text before every key in the bucket, for example `switchyard/`."),
  "objects.s3.access_key_id": text("", "Id of the access key. Required when `objects.backend` is `s3`."),
  "objects.s3.secret_access_key": text("", "Secret of the access key. Required when `objects.backend` is `s3`.", {
    secret: true,
  }),
  "objects.s3.session_token": text("", "Session token of temporary credentials. Empty: none.", { secret: true }),
  "objects.s3.addressing": choice(
    ["path", "host"],
    "path",
    "Where a request names the bucket. `path`: in the path, which every server supports. `host`: in the host, as Amazon recommends.",
  ),

  "backup.backend": choice(
    ["none", "file", "s3"],
    "none",
    "Where backups of the embedded PostgreSQL are stored. `none`: there are none. `file`: in a directory, which should be on another machine's disk. `s3`: in a bucket of any S3-compatible server.",
  ),
  "backup.file.dir": text("", "Directory of backups. Required when `backup.backend` is `file`."),
  "backup.s3.endpoint": text(
    "",
    "URL of the S3-compatible server, for example `http://127.0.0.1:9000`. Empty: Amazon S3 in `backup.s3.region`.",
  ),
  "backup.s3.region": text("us-east-1", "Region of the bucket, as requests are signed for it."),
  "backup.s3.bucket": text("", "Name of the bucket. Required when `backup.backend` is `s3`."),
  "backup.s3.prefix": text("", "Text before every key in the bucket, for example `switchyard/`."),
  "backup.s3.access_key_id": text("", "Id of the access key. Required when `backup.backend` is `s3`."),
  "backup.s3.secret_access_key": text("", "Secret of the access key. Required when `backup.backend` is `s3`.", {
    secret: true,
  }),
  "backup.s3.session_token": text("", "Session token of temporary credentials. Empty: none.", { secret: true }),
  "backup.s3.addressing": choice(
    ["path", "host"],
    "path",
    "Where a request names the bucket. `path`: in the path, which every server supports. `host`: in the host, as Amazon recommends.",
  ),
  "backup.encryption_key": text(
    "",
    "Key that encrypts backups: 32 bytes in base64 (create one with `openssl rand -base64 32`). Keep a copy elsewhere: without it, no backup can be restored. Empty: backups are not encrypted.",
    { secret: true },
  ),
  "backup.interval_h": integer(
    24,
    "Hours between two full copies of the database. The write-ahead log fills the time between them.",
    {
      minimum: 1,
      maximum: 720,
    },
  ),
  "backup.archive_timeout_s": integer(
    60,
    "Seconds after which changes are archived even if they are few. The loss of the machine costs at most what was written in this time, and in the time of its upload.",
    { minimum: 1, maximum: 3600 },
  ),
  "backup.keep_days": integer(
    14,
    "Days of the past that can be restored. Backups and logs that only older times need are removed.",
    { minimum: 1 },
  ),
  "storage.warn_percent": integer(
    80,
    "Share of a volume from which on it is reported as filling up: in `/ready`, in metrics and in the log. Volumes are the disk of the embedded PostgreSQL, the disk of large objects in files, and `storage.database_bytes_max`.",
    { minimum: 1, maximum: 100 },
  ),
  "storage.full_percent": integer(
    95,
    "Share of a volume from which on calls that add data are refused with STORAGE_FULL, so that PostgreSQL never stops at a full disk. 100: never.",
    { minimum: 2, maximum: 100 },
  ),
  "storage.database_bytes_max": integer(
    0,
    "Bytes that the external database may take, because its disk cannot be seen from here. 0: not measured.",
  ),
  "storage.tenant_bytes_max": integer(
    0,
    "Bytes that a tenant may store, estimated once a minute. Calls that add data are refused with STORAGE_QUOTA_EXCEEDED above it. 0: no limit.",
  ),

  "cache.backend": choice(
    ["memory", "redis", "none"],
    "memory",
    "Where rate limits are counted. `memory`: on each node separately. `redis`: in a Redis shared by all nodes. `none`: nowhere, so that no rate limit applies.",
  ),
  "cache.redis_url": text(
    "",
    "URL of the Redis or Valkey server, for example `redis://127.0.0.1:6379`. Required when `cache.backend` or `signals.backend` is `redis`.",
    { secret: true },
  ),

  "signals.backend": choice(
    ["postgres", "redis"],
    "postgres",
    "How nodes wake each other. `postgres`: over NOTIFY. `redis`: over the publish/subscribe of the Redis in `cache.redis_url`. A lost signal only delays work until the next poll.",
  ),

  "auth.enabled": flag(
    true,
    "Whether callers must authenticate. `false` is for development only: every caller is an admin of the first tenant.",
  ),
  "auth.api_key_enabled": flag(false, "Whether API keys in the `X-API-Key` header are accepted."),
  "auth.allow_anonymous": flag(
    false,
    "Whether callers without credentials can read the first tenant's data. For development only.",
  ),
  "auth.tenant_claim": text("tenant_id", "Name of the token claim that contains the tenant id."),
  "auth.roles_claim": text("roles", "Name of the token claim that contains the roles."),
  "auth.service_token_secret": text(
    "",
    "Secret that verifies HS256 service tokens on the internal plane. At least 32 characters.",
    {
      secret: true,
    },
  ),
  "auth.bootstrap_api_key": text(
    "",
    "API key, written `sk_<env>_<key id>_<secret>`, that is registered at startup as an admin of the first tenant.",
    {
      secret: true,
    },
  ),
  "auth.bcrypt_cost": integer(10, "Cost factor of the bcrypt hashes of API keys.", { minimum: 4, maximum: 15 }),
  "authz.provider": choice(
    ["builtin", "none"],
    "builtin",
    "Authorization provider. `builtin`: roles and scopes. `none`: no provider; `authz.allow_when_unconfigured` decides.",
  ),
  "authz.allow_when_unconfigured": flag(
    true,
    "Whether calls are allowed (`true`) or denied (`false`) when `authz.provider` is `none`.",
  ),

  "identity.sessions.max_hours": integer(8, "Hours after which a browser session ends, however much it is used.", {
    minimum: 1,
    maximum: 720,
  }),
  "identity.sessions.idle_minutes": integer(60, "Minutes after which a browser session ends if it is not used.", {
    minimum: 1,
    maximum: 43_200,
  }),
  "identity.scim.enabled": flag(
    false,
    "Whether directories can provision people at `/scim/v2`, with a key that has the scope `scim:write`.",
  ),
  "identity.saml.enabled": flag(false, "Whether tenants can connect SAML identity providers, which sign people in."),
  "identity.saml.clock_skew_s": integer(60, "Seconds that the clocks of SAML identity providers may differ.", {
    maximum: 300,
  }),

  "api.oidc_issuer": list(
    [],
    "URLs of the OpenID Connect issuers whose tokens are accepted, for example `https://id.example.com`. Each can name every tenant. People of the first one are known by the subject of their tokens, those of others by the URL of the issuer, `|` and the subject. Empty: no tokens are accepted.",
  ),
  "api.oidc_audience": list([], "Audiences of which tokens must contain one. Required when `api.oidc_issuer` is set."),
  "api.allowed_hosts": list(
    ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"],
    "Allowed values of the Host header, without the port. Other requests are rejected. `*` allows every host.",
  ),
  "api.max_request_body_size": integer(4 * 1024 * 1024, "Maximum size of a request body, in bytes.", { minimum: 1024 }),
  "api.max_concurrent_requests": integer(0, "Maximum number of concurrent calls per node. 0: no limit."),
  "api.max_concurrent_requests_per_tenant": integer(
    0,
    "Maximum number of concurrent calls per tenant and node. 0: no limit.",
  ),
  "api.request_timeout_s": integer(
    30,
    "Time limit of a call, in seconds, including its wait for a database connection. A call that exceeds it is cancelled and its transaction is rolled back.",
    { minimum: 1 },
  ),
  "api.slow_request_ms": integer(1000, "Calls that take longer than this many milliseconds are logged as slow."),
  "api.public_url": text(
    "",
    "Public base URL of the service, for example `https://api.example.com`. Empty: the address of the listener.",
  ),
  "api.staging_url": text("", "Base URL of the staging installation, listed as a server in the OpenAPI document."),
  "api.errors_url": text(
    "",
    "Base URL of the error documentation, used for the `type` of problems. Empty: `/errors` of this instance.",
  ),
  "api.sunset_dates": map(
    "Removal dates of deprecated operations, for example `service.api.MemberService/ListTenantMembers=2027-01-31`.",
  ),
  "discovery.hidden_capabilities": list([], "Ids of capabilities that discovery never returns, for example `billing`."),
  "cors.allowed_origins": list(
    [],
    "Origins that browsers can call from, for example `https://app.example.com`. `*` allows every origin.",
  ),

  "mcp.enabled": flag(
    false,
    "Whether operations are offered as tools to language models, over the Model Context Protocol.",
  ),
  "mcp.path": text("/mcp", "Path of the Model Context Protocol endpoint on the external plane."),
  "mcp.oauth_scopes": list(
    [],
    "Scopes that clients of the Model Context Protocol request from `api.oidc_issuer`, for example `openid`. Empty: the client chooses.",
  ),

  "analytics.enabled": flag(
    false,
    "Whether tenants can query metrics of their own. Counters then name the tenant of each series, at `/metrics` too.",
  ),
  "analytics.prometheus_url": text(
    "",
    "URL of the Prometheus, or of a compatible store, that scrapes the nodes, for example `http://127.0.0.1:9091`.",
  ),
  "analytics.prometheus_token": text(
    "",
    "Token that is sent to `analytics.prometheus_url` as `Authorization: Bearer`.",
    {
      secret: true,
    },
  ),
  "analytics.allow_unscoped_metrics": flag(
    false,
    "Whether tenants can also query metrics that do not name a tenant. They contain the numbers of the whole deployment.",
  ),
  "analytics.tenants_max": integer(
    1000,
    "Number of tenants that have series of their own on a node. All further ones share the series of the tenant `other`, which nobody can query.",
    { minimum: 1, maximum: 100_000 },
  ),

  "egress.mode": choice(
    ["shadow", "enforce", "disabled"],
    "shadow",
    "Policy for requests to tenant-supplied addresses that are not public. `enforce` blocks them, `shadow` logs and counts them, `disabled` does not check them. `shadow` also blocks cloud metadata addresses.",
  ),
  "egress.allowed_domains": list(
    [],
    "If set, outbound requests can reach only these domains (`example.com`, `*.example.com`) and `egress.allowed_ip_nets`.",
  ),
  "egress.allowed_ip_nets": list(
    [],
    "Networks (CIDR) that outbound requests can reach although they are private, for example `10.1.0.0/16`.",
  ),

  "egress.name_servers": list(
    [],
    "Name servers for outbound requests and for the TXT records of domains, as IP addresses with or without a port, for example `10.0.0.2` or `10.0.0.2:5353`. Empty: those of the system.",
  ),

  "ratelimit.global_rps": integer(
    0,
    "Rate limit of the whole instance, in tokens per second. 0: no limit. A call costs its operation's tokens plus one token per 64 KiB of request body.",
  ),
  "ratelimit.tenant_rps": integer(
    0,
    "Rate limit of each tenant, in tokens per second. 0: no limit. A call costs its operation's tokens plus one token per 64 KiB of request body.",
  ),
  "ratelimit.burst_s": integer(2, "Burst size of the rate limits, in seconds' worth of tokens.", {
    minimum: 1,
    maximum: 3600,
  }),
  "ratelimit.fail_mode": choice(
    ["open", "closed"],
    "open",
    "Behaviour while the rate limiter is unavailable. `open`: calls are allowed. `closed`: calls are rejected.",
  ),

  "connector.encryption_key": text(
    "",
    "Master key for secrets and credentials: 32 bytes, base64-encoded (`openssl rand -base64 32`). Empty: with the embedded PostgreSQL a key is generated and stored in `data.dir`.",
    { secret: true },
  ),
  "connector.encryption_key_id": text("k1", "Id of the active master key. Every new master key needs a new id."),
  "connector.rotation_keys": map("Retired master keys, used only to decrypt, written `id=base64key`.", {
    secret: true,
  }),

  "notification.dispatch.enabled": flag(
    true,
    "Whether notifications are sent. The management operations work in either case.",
  ),
  "notification.dispatch.queue": choice(
    ["tiered", "flat", "none"],
    "tiered",
    "Queue of pending notifications. `tiered`: notifications to one subscriber and broadcasts are queued separately. `flat`: both share one queue. `none`: no queue, so that topics cannot be notified and nothing is retried. The enterprise profile requires `tiered`.",
  ),
  "notification.allow_unknown_workflows": flag(
    false,
    "Whether triggers and preferences may name a `workflow_key` that no notification workflow has; the content of such a trigger comes from its overrides. Tenants can decide it for themselves. If it is false, a mistyped key is refused.",
  ),
  "notification.verified_endpoints_only": flag(
    false,
    "Whether notifications are sent only to addresses that subscribers have confirmed.",
  ),
  "notification.outbox.enabled": flag(
    false,
    "For development: notifications without a matching integration are stored and shown on `/outbox` instead of failing.",
  ),
  "notification.payload_retention_days": integer(
    7,
    "Days that a notification's payload is stored for retries. At most as long as topic membership snapshots are stored (7 days).",
    { minimum: 1, maximum: 7 },
  ),
  "notification.retention_days": integer(30, "Days that deliveries and inbox messages are stored.", { minimum: 1 }),
  "notification.observation_retention_days": integer(
    7,
    "Days that observations of deliveries are stored. They are deleted with their delivery at the latest.",
    { minimum: 1 },
  ),

  "audit.sink": choice(["", "stderr", "stdout", "file"], "", "Destination of the audit log. Empty: no audit log."),
  "audit.path": text("", "Path of the audit log file. Empty: `audit.log` in `data.dir`."),
  "audit.hash_chain": flag(
    true,
    "Whether each audit line contains a SHA-256 hash of itself and of the previous line, so that edits can be detected.",
  ),
  "audit.redact_pii": flag(
    false,
    "Whether email addresses, phone numbers and IP addresses are redacted in the audit log.",
  ),

  "dynamic_config.enabled": flag(false, "Whether tenants can change their own settings at runtime."),
  "tenant.purge_after_days": integer(30, "Days after which the data of a deleted tenant is removed."),
  "routing.assign_poll_ms": integer(
    1000,
    "Milliseconds between scans for waiting items without a recipient. Freed capacity and pool changes trigger a scan immediately.",
    { minimum: 100 },
  ),
  "routing.retention_days": integer(30, "Days that routing decisions, ended items and outcomes are stored.", {
    minimum: 1,
    // Each day is a partition, and a read by id looks into all of them.
    maximum: 180,
  }),
  "experiment.retention_days": integer(
    90,
    "Days that exposures and scores of ended experiments are stored. Their results stay.",
    { minimum: 1 },
  ),
  "workflow.retention_days": integer(
    30,
    "Days that ended workflow runs, the history of runs and dead letters are stored.",
    {
      minimum: 1,
      // Each day is a partition, and a read by id looks into all of them.
      maximum: 180,
    },
  ),
  "connector.execution_retention_days": integer(30, "Days that executions of connector actions are stored.", {
    minimum: 1,
    // Each day is a partition, and a list looks into all of them.
    maximum: 180,
  }),
  "connector.trigger_event_retention_days": integer(30, "Days that events of connector triggers are stored.", {
    minimum: 1,
    // Each day is a partition, and a list looks into all of them.
    maximum: 180,
  }),
  "conformance.run_timeout_s": integer(180, "Longest time that a conformance run may take, in seconds.", {
    minimum: 10,
    maximum: 3600,
  }),
  "conformance.max_open_runs_per_tenant": integer(
    9,
    "Maximum number of conformance runs of a tenant that have not ended. Further requests are refused.",
    { minimum: 1 },
  ),
  "conformance.max_running_runs": integer(
    2,
    "Maximum number of conformance runs that all nodes together execute at once. Further runs wait.",
    { minimum: 1 },
  ),
  "conformance.retention_days": integer(90, "Days that conformance runs and reports are stored.", { minimum: 1 }),

  "entitlement.enforcement": choice(
    ["off", "report", "strict"],
    "report",
    "What happens to a call whose tenant lacks the entitlement of the operation. `off`: it is not evaluated. `report`: the call is admitted and recorded as evidence. `strict`: the call is denied, also if the tenant's entitlements are stale. An explicit deny denies in every mode.",
  ),
  "entitlement.grace_unprovisioned": flag(
    false,
    "Whether tenants that never had entitlements are admitted, even if `entitlement.enforcement` is `strict`.",
  ),
  "entitlement.evidence_retention_days": integer(30, "Days that evidence of entitlements is stored.", { minimum: 1 }),
  "events.retention_days": integer(30, "Days that events are stored.", { minimum: 1 }),
  "webhooks.retention_days": integer(30, "Days that webhook deliveries are stored after they have ended.", {
    minimum: 1,
  }),
  "idempotency.ttl_hours": integer(24, "Hours that responses are stored for repeated idempotency keys.", {
    minimum: 1,
  }),

  "telemetry.otlp_endpoint": text(
    "",
    "OTLP/HTTP endpoint of an OpenTelemetry collector, for example `http://127.0.0.1:4318`. The paths of the signals, such as `/v1/traces`, are added. Empty: nothing is sent.",
  ),
  "telemetry.otlp_signals": list(
    ["traces"],
    "What is sent to `telemetry.otlp_endpoint`: `traces`, `metrics` (those of `/metrics`) and `logs` (the lines of the log).",
  ),
  "telemetry.otlp_metrics_interval_s": integer(60, "Seconds between two exports of metrics to the collector.", {
    minimum: 1,
    maximum: 3600,
  }),
  "log.level": choice(["debug", "info", "warn", "error", "silent"], "info", "Minimum level of log lines."),
} as const satisfies Record<string, Setting>;

/** The dotted key of a setting. */
export type SettingKey = keyof typeof settings;

/** The resolved value of every setting. */
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
