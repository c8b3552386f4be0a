import assert from "node:assert/strict";
import { test } from "node:test";
import { createHostList } from "./host-list.ts";

const hosts = createHostList([
  "api.acme.test",
  "*.acme.test",
  "s3.*.aws.test",
  "port.test:8443",
  "localhost",
  "{settings.own}",
]);
const settings = { own: "https://own.test:444/path", other: 1 };
const allows = (url: string) => hosts.allows(new URL(url), settings);

test("declared hosts are allowed", () => {
  for (const url of [
    "https://api.acme.test/x",
    "https://API.acme.test:443/",
    "https://one.acme.test/",
    "https://s3.eu-west-1.aws.test/",
    "https://port.test:8443/",
    "http://localhost:1234/",
    "https://own.test:444/other",
  ]) {
    assert.ok(allows(url), url);
  }
});

test("all other hosts, ports and schemes are refused", () => {
  for (const url of [
    "http://api.acme.test/",
    "https://acme.test/",
    "https://a.b.acme.test/",
    "https://.acme.test.evil.test/",
    "https://api.acme.test.evil.test/",
    "https://evilacme.test/",
    "https://api.acme.test:8443/",
    "https://api.acme.test.:443/",
    "https://user@api.acme.test/",
    "https://user:pass@api.acme.test/",
    "https://port.test/",
    "https://own.test/",
    "http://own.test:444/",
    "https://127.0.0.1/",
    "ftp://api.acme.test/",
  ]) {
    assert.ok(!allows(url), url);
  }
});

test("a declared port counts for loopback hosts too", () => {
  const local = createHostList(["127.0.0.1:20310", "[::1]:80", "{settings.own}"]);
  const own = { own: "http://localhost:20312" };
  for (const url of ["http://127.0.0.1:20310/", "http://[::1]/", "http://localhost:20312/next"]) {
    assert.ok(local.allows(new URL(url), own), url);
  }
  for (const url of ["http://127.0.0.1:20311/", "http://127.0.0.1/", "https://[::1]/", "http://localhost:20313/"]) {
    assert.ok(!local.allows(new URL(url), own), url);
  }
});

test("a setting that is missing or not a host allows nothing", () => {
  for (const own of [undefined, "", 7, "not a host"]) {
    assert.ok(!hosts.allows(new URL("https://own.test:444/"), { own }));
  }
});
