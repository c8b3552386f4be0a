import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ConfigError, environmentName, loadConfig, settings } from "./index.ts";

const loopback = ["server.internal_addr=127.0.0.1:0"];
const enterprise = [...loopback, "security_profile=enterprise", "audit.sink=stderr"];

function fileWith(yaml: string): string {
  const file = join(mkdtempSync(join(tmpdir(), "switchyard-config-")), "settings.yaml");
  writeFileSync(file, yaml);
  return file;
}

function refuses(inputs: Parameters<typeof loadConfig>[0], message: RegExp): void {
  assert.throws(
    () => loadConfig(inputs),
    (error: unknown) => error instanceof ConfigError && message.test(error.message),
    String(message),
  );
}

test("the command line overrides the environment, which overrides the file, which overrides the default", () => {
  const file = fileWith("server: { internal_addr: '127.0.0.1:1' }\nlog.level: warn\nratelimit:\n  tenant_rps: 5\n");
  const environment = { SERVICE_LOG_LEVEL: "error", SERVICE_RATELIMIT_TENANT_RPS: "6", HOME: "/" };
  const { config, sources } = loadConfig({ file, environment, overrides: ["ratelimit.tenant_rps=7"] });
  assert.equal(config["ratelimit.tenant_rps"], 7);
  assert.equal(config["log.level"], "error");
  assert.equal(config["server.internal_addr"], "127.0.0.1:1");
  assert.equal(config["api.addr"], ":50052");
  assert.deepEqual(
    [sources["ratelimit.tenant_rps"], sources["log.level"], sources["server.internal_addr"], sources["api.addr"]],
    ["command line", "environment", "file", "default"],
  );
});

test("every setting can be set from the environment under its own name", () => {
  const names = Object.keys(settings).map(environmentName);
  assert.equal(new Set(names).size, names.length);
  assert.equal(environmentName("dynamic_config.enabled"), "SERVICE_DYNAMIC_CONFIG_ENABLED");
});

test("lists and maps can be written on one line", () => {
  const { config } = loadConfig({
    overrides: [...loopback, "api.allowed_hosts=a.example, b.example", "connector.rotation_keys=k0=QUJD=,k1=WFla"],
  });
  assert.deepEqual(config["api.allowed_hosts"], ["a.example", "b.example"]);
  assert.deepEqual(config["connector.rotation_keys"], { k0: "QUJD=", k1: "WFla" });
});

test("an unknown key, an invalid value or a contradiction is an error that names the setting", () => {
  refuses({ overrides: ["api.adr=x"] }, /^api\.adr: there is no such setting/);
  refuses({ environment: { SERVICE_API_ADR: "x" } }, /^SERVICE_API_ADR: /);
  refuses({ file: fileWith("api: { adr: x }") }, /^api\.adr: /);
  refuses({ overrides: ["auth.enabled=yes"] }, /^auth\.enabled: must be true or false/);
  refuses({ overrides: ["auth.bcrypt_cost=3"] }, /^auth\.bcrypt_cost: must be from 4 to 15/);
  refuses({ overrides: ["ratelimit.tenant_rps=many"] }, /^ratelimit\.tenant_rps: must be a whole number/);
  refuses({ overrides: ["cache.backend=disk"] }, /^cache\.backend: must be one of/);
  refuses({ overrides: [...loopback, "cache.backend=redis"] }, /^cache\.redis_url: /);
  refuses(
    { overrides: [...loopback, "database.listen_url=postgres://h/db"] },
    /^database\.listen_url: needs database\.url/,
  );
  refuses({ overrides: [...loopback, "api.oidc_issuer=https://id.example"] }, /^api\.oidc_audience: /);
  refuses({ overrides: [...loopback, "telemetry.otlp_signals=traces,metric"] }, /^telemetry\.otlp_signals: metric is /);
  refuses({ overrides: [...loopback, "auth.service_token_secret=short"] }, /^auth\.service_token_secret: /);
  refuses({ overrides: [...loopback, "auth.bootstrap_api_key=letmein"] }, /^auth\.bootstrap_api_key: /);
  for (const net of ["10.0.0.0/33", "10.0.0/8", "10.0.0.0/", "10.0.0.0/8/8", "fd00::/129", "fe80::1%eth0", "lan"]) {
    refuses({ overrides: [...loopback, `egress.allowed_ip_nets=${net}`] }, /^egress\.allowed_ip_nets: /);
  }
  for (const domain of ["https://example.com", "*", "a.*.example", "127.0.0.1", "example.com:443", "a b"]) {
    refuses({ overrides: [...loopback, `egress.allowed_domains=${domain}`] }, /^egress\.allowed_domains: /);
  }
  for (const path of [
    "",
    "mcp",
    "/",
    "/mcp/",
    "/api/mcp",
    "/docs",
    "/.well-known/mcp",
    "/auth/mcp",
    "/console",
    "/scim/v2",
    "/workspaces/mcp",
    "/service.api.PoolService/x",
    "/a b",
  ]) {
    refuses({ overrides: [...loopback, `mcp.path=${path}`] }, /^mcp\.path: /);
  }
  refuses({ file: fileWith("a: [") }, /is not valid YAML/);
  refuses({ file: "/nowhere/settings.yaml" }, /cannot be read/);
});

test("all invalid settings are reported together, from every source", () => {
  const inputs = {
    file: fileWith("log: { level: loud }\nnot: { known: 1 }\n"),
    environment: { SERVICE_AUTH_ENABLED: "perhaps", SERVICE_NO_SUCH: "1" },
    overrides: ["auth.bcrypt_cost=3", "no-equals-sign", "cache.backend=redis", "api.oidc_issuer=id.example"],
  };
  assert.throws(
    () => loadConfig(inputs),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      const named = error.problems.map((problem) => problem.slice(0, problem.indexOf(":")));
      assert.deepEqual(named, [
        "log.level",
        "not.known",
        "SERVICE_AUTH_ENABLED",
        "SERVICE_NO_SUCH",
        "auth.bcrypt_cost",
        "--set no-equals-sign",
        "cache.redis_url",
        "api.oidc_audience",
        "api.oidc_issuer",
        "server.internal_addr",
      ]);
      return true;
    },
  );
  refuses(
    { overrides: ["security_profile=enterprise", "auth.enabled=false", "egress.mode=shadow"] },
    /^auth\.enabled: .*\negress\.mode: .*\naudit\.sink: .*\nserver\.internal_addr: /,
  );
});

test("the error about a mistyped setting suggests the nearest known one", () => {
  refuses({ overrides: ["server.htpp_addr=:1"] }, /^server\.htpp_addr: .*did you mean server\.http_addr\?/);
  refuses({ environment: { SERVICE_LOG_LEVLE: "warn" } }, /^SERVICE_LOG_LEVLE: .*did you mean SERVICE_LOG_LEVEL\?/);
  refuses({ overrides: ["nothing.like.it=1"] }, /^nothing\.like\.it: there is no such setting; `service config show`/m);
});

test("allowed networks and domains are accepted in every valid form", () => {
  const { config } = loadConfig({
    overrides: [
      ...loopback,
      "egress.allowed_ip_nets=127.0.0.0/8, fd12::/16,10.1.2.3,::1",
      "egress.allowed_domains=example.com,*.partner.example,Bücher.example",
    ],
  });
  assert.equal(config["egress.allowed_ip_nets"].length, 4);
  assert.equal(config["egress.allowed_domains"].length, 3);
});

test("the internal plane must listen on loopback unless it requires client certificates", () => {
  for (const address of [":8081", "0.0.0.0:8081", "[::]:8081", "10.0.0.1:8081", "127.example:8081"]) {
    refuses({ overrides: [`server.internal_addr=${address}`] }, /^server\.internal_addr: .*internal_require_mtls/);
  }
  for (const address of ["127.0.0.1:0", "[::1]:0", "localhost:0", ""]) {
    assert.ok(loadConfig({ overrides: [`server.internal_addr=${address}`] }));
  }
  const mtls = ["server.internal_addr=:8081", "server.internal_require_mtls=true"];
  refuses({ overrides: mtls }, /^server\.internal_tls_cert_file: /);
});

test("analytics needs the URL of a metrics store, without credentials in it", () => {
  const enabled = [...loopback, "analytics.enabled=true"];
  for (const url of ["", "127.0.0.1:9091", "ftp://a.example", "http://user:secret@a.example", "http://a.example?x=1"]) {
    refuses(
      { overrides: [...enabled, `analytics.prometheus_url=${url}`] },
      /^analytics\.prometheus_url: must be an HTTP/,
    );
  }
  loadConfig({ overrides: [...enabled, "analytics.prometheus_url=https://metrics.example/prefix/"] });
});

test("the enterprise profile hardens defaults, and rejects settings that weaken security", () => {
  const { config, sources } = loadConfig({ overrides: enterprise });
  assert.equal(config["authz.allow_when_unconfigured"], false);
  assert.equal(config["ratelimit.fail_mode"], "closed");
  assert.equal(sources["ratelimit.fail_mode"], "security profile");
  assert.equal(config["egress.mode"], "enforce");
  assert.equal(config["entitlement.enforcement"], "strict");
  assert.equal(config["entitlement.grace_unprovisioned"], true);
  const withoutGrace = loadConfig({ overrides: [...enterprise, "entitlement.grace_unprovisioned=false"] });
  assert.equal(withoutGrace.config["entitlement.grace_unprovisioned"], false);
  for (const insecure of [
    "auth.enabled=false",
    "auth.allow_anonymous=true",
    "authz.provider=none",
    "audit.hash_chain=false",
    "egress.mode=shadow",
    "egress.mode=disabled",
    "ratelimit.fail_mode=open",
    "authz.allow_when_unconfigured=true",
    "cache.backend=none",
    "auth.bcrypt_cost=4",
    "auth.bcrypt_cost=9",
    "notification.outbox.enabled=true",
    "analytics.allow_unscoped_metrics=true",
    "entitlement.enforcement=off",
    "entitlement.enforcement=report",
    "auth.bootstrap_api_key=sk_live_boss_short-one",
  ]) {
    refuses(
      { overrides: [...enterprise, insecure] },
      new RegExp(`^${insecure.split("=")[0]!.replace(".", "\\.")}: must (be|end)`),
    );
  }
  for (const insecure of [
    "api.allowed_hosts=a.example,*",
    "cors.allowed_origins=*",
    "egress.allowed_ip_nets=0.0.0.0/0",
  ]) {
    refuses(
      { overrides: [...enterprise, insecure] },
      new RegExp(`^${insecure.split("=")[0]!.replace(".", "\\.")}: must not contain`),
    );
  }
  const issuer = (url: string) => [...enterprise, "api.oidc_audience=a", `api.oidc_issuer=${url}`];
  for (const url of ["http://id.example", "HTTP://id.example", "http://127.0.0.1:9"]) {
    refuses({ overrides: issuer(url) }, /^api\.oidc_issuer: must be an https:\/\/ URL in the enterprise/);
  }
  loadConfig({ overrides: [...issuer("https://id.example"), "auth.bcrypt_cost=10", "cache.backend=memory"] });
  refuses({ overrides: [...loopback, "security_profile=enterprise"] }, /^audit\.sink: must be stderr, stdout or file/);
  const flat = "notification.dispatch.queue=flat";
  refuses({ overrides: [...enterprise, flat] }, /^notification\.dispatch\.queue: must be tiered/);
  loadConfig({ overrides: [...enterprise, flat, "notification.dispatch.enabled=false"] });
});
