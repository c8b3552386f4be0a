import assert from "node:assert/strict";
import { test } from "node:test";
import { createPolicy, type PolicySettings } from "./policy.ts";
import { parseHost, urlRefusal } from "./target.ts";

function policy(settings: Partial<PolicySettings> = {}) {
  return createPolicy({ mode: "enforce", allowedDomains: [], allowedIpNets: [], ...settings });
}

function isRefused(settings: Partial<PolicySettings>, host: string, address: string): boolean {
  const made = policy(settings);
  const objection = made.objectionTo(host, address);
  return objection !== undefined && made.refuses(objection);
}

test("enforce refuses all non-public addresses, shadow only metadata and link-local ones, disabled none", () => {
  const refusedBy = (address: string) =>
    (["enforce", "shadow", "disabled"] as const).map((mode) => isRefused({ mode }, "host.example", address));
  assert.deepEqual(refusedBy("8.8.8.8"), [false, false, false]);
  assert.deepEqual(refusedBy("10.0.0.1"), [true, false, false]);
  assert.deepEqual(refusedBy("127.0.0.1"), [true, false, false]);
  assert.deepEqual(refusedBy("169.254.169.254"), [true, true, false]);
  assert.deepEqual(refusedBy("::ffff:169.254.169.254"), [true, true, false]);
  assert.deepEqual(refusedBy("fe80::1%eth0"), [true, true, false]);
});

test("listed networks are allowed, also as IPv4-mapped IPv6, and no other networks", () => {
  const settings = { allowedIpNets: ["127.0.0.0/8", "fd12::/16", "10.1.2.3"] };
  for (const address of ["127.0.0.1", "::ffff:127.0.0.1", "fd12:3::4", "10.1.2.3"]) {
    assert.equal(isRefused(settings, "host.example", address), false, address);
  }
  for (const address of ["10.1.2.4", "fd13::1", "192.168.0.1"]) {
    assert.equal(isRefused(settings, "host.example", address), true, address);
  }
});

test("a wide network does not allow cloud metadata; a network that starts in its range does", () => {
  const metadata = "169.254.169.254";
  assert.equal(isRefused({ allowedIpNets: ["0.0.0.0/0"] }, "host.example", metadata), true);
  assert.equal(isRefused({ allowedIpNets: ["100.64.0.0/10"] }, "host.example", "100.100.100.200"), true);
  assert.equal(isRefused({ allowedIpNets: ["169.254.169.254/32"] }, "host.example", metadata), false);
  assert.equal(isRefused({ allowedIpNets: ["169.254.0.0/16"] }, "host.example", metadata), false);
});

test("with listed domains only these and addresses in listed networks are allowed", () => {
  const settings = {
    allowedDomains: ["hooks.example.com", "*.partner.example", "Bücher.example"],
    allowedIpNets: ["10.0.0.0/8"],
  };
  const open = (host: string, address = "8.8.8.8") => !isRefused(settings, host, address);
  assert.ok(open("hooks.example.com"));
  assert.ok(open("a.partner.example") && open("a.b.partner.example"));
  assert.ok(open("xn--bcher-kva.example"));
  assert.ok(!open("partner.example") && !open("evilpartner.example"));
  assert.ok(!open("example.com") && !open("x.hooks.example.com"));
  assert.ok(open("anything.internal", "10.0.0.1"));
  assert.ok(!open("8.8.8.8"), "an address is no listed domain");
  assert.ok(!open("hooks.example.com", "192.168.0.1"), "a listed name does not allow a private address");
});

test("a stored URL must be http or https, without credentials, and not point to a refused address in any notation", () => {
  const enforcing = policy();
  const refused = [
    "not a url",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://example.com/",
    "https://user:secret@example.com/",
    "http://public.example@127.0.0.1/",
    "http://",
    "http://[fe80::1%25eth0]/",
    "http://example.com:0/",
    `https://example.com/${"a".repeat(2048)}`,
    "http://127.0.0.1/",
    "http://127.0.0.1./",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://①②⑦.0.0.1/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://0/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://[fd00:ec2::254]/",
  ];
  for (const url of refused) assert.notEqual(urlRefusal(url, enforcing), undefined, url);
  for (const url of [
    "https://example.com/hook?a=b",
    "http://example.com:8080/",
    "http://8.8.8.8/",
    "http://EXAMPLE.com./",
  ]) {
    assert.equal(urlRefusal(url, enforcing), undefined, url);
  }
});

test("without a policy only addresses that every policy refuses are refused", () => {
  assert.equal(urlRefusal("http://127.0.0.1/"), undefined);
  assert.notEqual(urlRefusal("http://169.254.169.254/"), undefined);
  assert.notEqual(urlRefusal("http://user@example.com/"), undefined);
});

test("a bare host is parsed like the host of a URL", () => {
  assert.deepEqual(parseHost("127.1")?.host, "127.0.0.1");
  assert.deepEqual(parseHost("0x7f000001")?.isAddress, true);
  assert.deepEqual(parseHost("::ffff:127.0.0.1")?.isAddress, true);
  assert.deepEqual(parseHost("SMTP.example.com.")?.host, "smtp.example.com");
  for (const text of ["", "a b", "host:25", "user@host", "host/path", "fe80::1%eth0", "[::1]", "a".repeat(254)]) {
    assert.equal(parseHost(text), undefined, text);
  }
});
