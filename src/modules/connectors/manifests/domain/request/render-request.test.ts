import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../../../../test/harness/random.ts";
import type { Json, JsonObject } from "../../../../../platform/document/index.ts";
import { accountWith, actionWith, compile, manifestWith, smallManifest } from "../../testing/manifest-documents.ts";
import type { AccountValues, Provider } from "../provider.ts";
import type { HttpRequest, RenderFailure } from "../request-spec.ts";
import { renderRequest } from "./render-request.ts";

const nowMs = Date.parse("2027-01-31T12:00:00.500Z");
const anyInput = {
  type: "object",
  required: ["id", "value"],
  properties: { id: {}, value: {} },
  additionalProperties: true,
};

/** A provider whose only action has this request and any input. */
function providerWith(request: JsonObject, more: Readonly<Record<string, Json | undefined>> = {}): Provider {
  const action = { title: "Do", mutation: { effect: "create" }, input: anyInput, request };
  return compile(manifestWith({ actions: { do: action }, ...more }));
}

function render(
  provider: Provider,
  input: Json,
  account: AccountValues = accountWith(),
  name = [...provider.actions.keys()][0]!,
): HttpRequest | RenderFailure {
  const { request, mutation, paginate } = provider.actions.get(name)!;
  return renderRequest(provider, request!, { input, account, idempotencyKey: "key-1", nowMs }, { mutation, paginate });
}

const rendered = (provider: Provider, input: Json, account?: AccountValues) => {
  const result = render(provider, input, account);
  assert.ok(!("fault" in result), JSON.stringify(result));
  return result;
};
const urlOf = (request: JsonObject, input: Json) => rendered(providerWith(request), input).url;
const bodyOf = (request: JsonObject, input: Json) =>
  rendered(providerWith({ method: "POST", path: "/x", ...request }), input).body;
const faultOf = (result: HttpRequest | RenderFailure) => ("fault" in result ? [result.fault, result.place] : result);

suite("a path", () => {
  const path = { method: "GET", path: "/a/{input.id}/b" };

  test("encodes a value as one segment", () => {
    assert.equal(urlOf(path, { id: "x/y?z#ü %2e" }), "https://api.acme.test/v1/a/x%2Fy%3Fz%23%C3%BC%20%252e/b");
    assert.equal(urlOf(path, { id: 7 }), "https://api.acme.test/v1/a/7/b");
    assert.equal(urlOf(path, { id: "\ud800" }), "https://api.acme.test/v1/a/%EF%BF%BD/b");
  });

  test("refuses empty values, dot segments, absent values and objects", () => {
    const provider = providerWith(path);
    for (const id of ["", ".", "..", { a: 1 }, ["x"]]) {
      assert.deepEqual(faultOf(render(provider, { id })), ["invalid_value", "input.id"], JSON.stringify(id));
    }
    assert.deepEqual(faultOf(render(provider, {})), ["missing_value", "input.id"]);
  });

  test("refuses dot segments that several values make together", () => {
    const provider = providerWith({ method: "GET", path: "/a/{input.id}{input.id}" });
    assert.deepEqual(faultOf(render(provider, { id: "." })), ["invalid_value", "input.id"]);
  });

  test("keeps the slashes of a value with the filter path, but no dot segments", () => {
    const provider = providerWith({ method: "GET", path: "/a/{input.id|path}" });
    assert.equal(rendered(provider, { id: "/x y/z" }).url, "https://api.acme.test/v1/a/x%20y/z");
    for (const id of ["../x", "x/..", "x/./y"]) {
      assert.deepEqual(faultOf(render(provider, { id })), ["invalid_value", "input.id"], id);
    }
  });
});

test("a query drops absent values, repeats names for lists and keeps literals", () => {
  const query = { a: "{input.value}", b: "{input.none}", c: "x{input.none}", d: 1, e: "{input.value|csv}", f: "{{x}" };
  const url = urlOf({ method: "GET", path: "/x", query }, { value: ["1&2", "ü"] });
  assert.equal(url, "https://api.acme.test/v1/x?a=1%262&a=%C3%BC&d=1&e=1%262%2C%C3%BC&f=%7Bx%7D");
});

test("a whole object can be the query", () => {
  const url = urlOf(
    { method: "GET", path: "/x", query: "{input.value}" },
    { value: { a: 1, b: [true, "x"], c: null } },
  );
  assert.equal(url, "https://api.acme.test/v1/x?a=1&b=true&b=x");
});

suite("a header", () => {
  test("has no control characters", () => {
    const provider = providerWith({ method: "GET", path: "/x", headers: { "x-note": "{input.value}" } });
    assert.equal(rendered(provider, { value: "fine é" }).headers["x-note"], "fine é");
    assert.equal(rendered(provider, {}).headers["x-note"], undefined);
    for (const value of ["a\r\nx-evil: 1", "a\u0000", "😀"]) {
      assert.deepEqual(faultOf(render(provider, { value })), ["invalid_value", "headers.x-note"], value);
    }
  });

  test("from the input cannot replace those of the connection", () => {
    const provider = providerWith({ method: "GET", path: "/x", headers: "{input.value}" });
    assert.equal(rendered(provider, { value: { "X-Own": "1" } }).headers["x-own"], "1");
    for (const name of ["Authorization", "host", "Cookie", "transfer-encoding", "a b"]) {
      assert.deepEqual(faultOf(render(provider, { value: { [name]: "x" } })), ["invalid_value", "headers"], name);
    }
  });
});

suite("a body", () => {
  test("keeps the type of a value that is exactly one placeholder and drops absent ones", () => {
    const json = {
      n: "{input.value}",
      t: "n={input.value}",
      none: "{input.none}",
      list: ["{input.none}", 1],
      nil: null,
    };
    assert.equal(bodyOf({ json }, { value: 3 }), '{"n":3,"t":"n=3","list":[1],"nil":null}');
    assert.equal(bodyOf({ json: { n: "{input.value}" } }, { value: null }), '{"n":null}');
    assert.equal(bodyOf({ json: "{input.value}" }, { value: [1, { a: "b" }] }), '[1,{"a":"b"}]');
  });

  test("cannot be broken out of by a value", () => {
    assert.equal(bodyOf({ json: { a: "x{input.value}" } }, { value: '","b":"' }), '{"a":"x\\",\\"b\\":\\""}');
    assert.equal(bodyOf({ form: { a: "{input.value}" } }, { value: "1&b=2" }), "a=1%26b%3D2");
  });

  test("is a form with nested names", () => {
    const form = {
      a: { b: "{input.value}" },
      l: "{input.list}",
      "m[]": "{input.list}",
      r: { $repeat: "{input.list}" },
      n: null,
    };
    assert.equal(
      bodyOf({ form }, { value: "x y", list: ["1", "2"] }),
      "a%5Bb%5D=x%20y&l%5B0%5D=1&l%5B1%5D=2&m%5B%5D=1&m%5B%5D=2&r=1&r=2",
    );
  });

  test("is a form with a prefix before the names of an object", () => {
    const form = { "h:*": "{input.value}", a: "1" };
    assert.equal(bodyOf({ form }, { value: { "X-A": "1", "X-B": "2&c" } }), "h%3AX-A=1&h%3AX-B=2%26c&a=1");
    assert.equal(bodyOf({ form }, {}), "a=1");
  });

  test("can list the members of an object by name and value", () => {
    const json = { a: 1, list: { $entries: "{input.value}", $name: "Name", $value: "Value" } };
    const pairs = '[{"Name":"X-A","Value":"1"},{"Name":"X-B","Value":"2"}]';
    assert.equal(bodyOf({ json }, { value: { "X-A": "1", "X-B": "2" } }), `{"a":1,"list":${pairs}}`);
    assert.equal(bodyOf({ json }, {}), '{"a":1}');
    const provider = providerWith({ method: "POST", path: "/x", json });
    assert.deepEqual(faultOf(render(provider, { value: "text" })), ["invalid_value", "$entries"]);
  });

  test("can be text, bytes or GraphQL", () => {
    assert.equal(String(bodyOf({ text: "a{input.value}" }, { value: "ü" })), "aü");
    assert.deepEqual(bodyOf({ base64: "{input.value}" }, { value: "AP8=" }), Buffer.from([0, 255]));
    const graphql = { query: "query($id: ID!) { item(id: $id) { name } }", variables: { id: "{input.value}" } };
    assert.deepEqual(JSON.parse(String(bodyOf({ graphql }, { value: "7" }))), {
      query: graphql.query,
      variables: { id: "7" },
    });
    assert.deepEqual(JSON.parse(String(bodyOf({ graphql: { query: "{input.value}" } }, { value: "{ me }" }))), {
      query: "{ me }",
    });
  });

  test("can be encoded after it was filled in", () => {
    const json = { raw: { $base64url: "To: {input.value|line}\r\nSubject: {input.subject|mime_word}\r\n\r\nHi" } };
    const body = JSON.parse(String(bodyOf({ json }, { value: "a@b.test", subject: "Grüße" }))) as { raw: string };
    const text = Buffer.from(body.raw, "base64url").toString();
    assert.equal(text, `To: a@b.test\r\nSubject: =?UTF-8?B?${Buffer.from("Grüße").toString("base64")}?=\r\n\r\nHi`);
    const provider = providerWith({ method: "POST", path: "/x", json });
    const evil = { value: "a@b.test\r\nBcc: c@d.test", subject: "x" };
    assert.deepEqual(faultOf(render(provider, evil)), ["invalid_value", "input.value"]);
  });

  test("has the content type of its kind unless the manifest names another", () => {
    const typeOf = (request: JsonObject) =>
      rendered(providerWith({ method: "POST", path: "/x", ...request }), { value: "a" }).headers["content-type"];
    assert.equal(typeOf({ json: {} }), "application/json");
    assert.equal(typeOf({ form: {} }), "application/x-www-form-urlencoded");
    assert.equal(typeOf({ base64: "{input.value}" }), "application/octet-stream");
    assert.equal(
      typeOf({ json: {}, headers: { "Content-Type": "application/x-amz-json-1.0" } }),
      "application/x-amz-json-1.0",
    );
  });
});

test("defaults of the input schema are used", () => {
  const input = { type: "object", properties: { state: { enum: ["open"], default: "open" } } };
  const provider = compile(
    actionWith({ input, request: { method: "GET", path: "/x", query: { s: "{input.state}" } } }),
  );
  assert.equal(rendered(provider, {}).url, "https://api.acme.test/v1/x?s=open");
});

test("a time has several formats", () => {
  const query = { a: "{now.iso}", b: "{now.epoch_s}", c: "{now.epoch_ms}", d: "{now.date}" };
  assert.equal(
    urlOf({ method: "GET", path: "/x", query }, {}),
    `https://api.acme.test/v1/x?a=2027-01-31T12%3A00%3A00.500Z&b=1801396800&c=${nowMs}&d=2027-01-31`,
  );
});

suite("an idempotency key", () => {
  const withKey = (key_in: JsonObject, request: JsonObject = { method: "POST", path: "/x", json: { a: { b: 1 } } }) =>
    rendered(
      compile(actionWith({ mutation: { effect: "create", idempotency: "key", key_in }, request, input: anyInput })),
      { id: 1 },
    );

  test("goes into a header, the query or the body", () => {
    assert.equal(withKey({ header: "Idempotency-Key" }).headers["idempotency-key"], "key-1");
    assert.equal(withKey({ query: "requestid" }).url, "https://api.acme.test/v1/x?requestid=key-1");
    assert.equal(withKey({ body: "/a/key" }).body, '{"a":{"b":1,"key":"key-1"}}');
    assert.equal(withKey({ body: "/key" }, { method: "POST", path: "/x" }).body, '{"key":"key-1"}');
    assert.equal(withKey({ body: "/key" }, { method: "POST", path: "/x", form: { a: 1 } }).body, "a=1&key=key-1");
  });
});

suite("authentication", () => {
  const urls = { authorize: { url: "https://api.acme.test/a" }, token: { url: "https://api.acme.test/t" } };
  const withAuth = (auth: JsonObject, account: Partial<AccountValues>, more = {}) => {
    const result = render(compile(manifestWith({ auth, ...more })), { id: "1" }, accountWith(account));
    assert.ok(!("fault" in result), JSON.stringify(result));
    return result;
  };

  test("with OAuth is a bearer token unless the manifest says otherwise", () => {
    const account = { mode: "oauth2", credentials: { access_token: "t1" } } as const;
    assert.equal(withAuth({ oauth2: urls }, account).headers.authorization, "Bearer t1");
    const apply = { headers: { "x-token": "{credentials.access_token}", "x-app": "{config.client_id}" } };
    const custom = withAuth({ oauth2: { ...urls, apply } }, { ...account, config: { client_id: "c1" } });
    assert.deepEqual(
      [custom.headers["x-token"], custom.headers["x-app"], custom.headers.authorization],
      ["t1", "c1", undefined],
    );
  });

  test("with a key can be in a header, the query or the base URL", () => {
    const fields = { key: {} };
    const account = { credentials: { key: "a/b c" } };
    const query = withAuth({ api_key: { fields, apply: { query: { key: "{credentials.key}" } } } }, account);
    assert.equal(query.url, "https://api.acme.test/v1/items/1?key=a%2Fb%20c");
    const base_url = "https://api.acme.test/bot{credentials.key}";
    const base = withAuth({ api_key: { fields, apply: { base_url } } }, account);
    assert.equal(base.url, "https://api.acme.test/bota%2Fb%20c/items/1");
  });

  test("with a name and password is Basic", () => {
    const credentials = { username: "ada", password: "päss" };
    const { headers } = withAuth({ basic: {} }, { mode: "basic", credentials });
    assert.equal(headers.authorization, `Basic ${Buffer.from("ada:päss").toString("base64")}`);
  });

  test("with AWS signs the final request", () => {
    const account = {
      mode: "aws_sigv4",
      settings: { region: "eu-west-1" },
      credentials: { access_key_id: "AKID", secret_access_key: "secret" },
    } as const;
    const auth = { aws_sigv4: { service: "sqs", region: "{settings.region}" } };
    const { headers } = withAuth(auth, account, { settings: { region: {} } });
    assert.match(
      headers.authorization!,
      /^AWS4-HMAC-SHA256 Credential=AKID\/20270131\/eu-west-1\/sqs\/aws4_request, SignedHeaders=accept;host;user-agent;x-amz-date, /,
    );
  });

  test("without credentials ends with a fault that names them", () => {
    const provider = compile(smallManifest);
    assert.deepEqual(faultOf(render(provider, { id: "1" }, accountWith({ credentials: {} }))), [
      "missing_value",
      "credentials.api_key",
    ]);
    assert.deepEqual(faultOf(render(provider, { id: "1" }, accountWith({ mode: "basic" }))), [
      "unsupported_auth",
      "auth",
    ]);
  });

  test("cannot be replaced by the input", () => {
    const provider = providerWith({ method: "GET", path: "/x", headers: { authorization: "{input.value}" } });
    assert.equal(rendered(provider, { value: "mine" }).headers.authorization, "Bearer secret-key-1");
  });
});

suite("a host", () => {
  const withHosts = (hosts: readonly string[], base_url: string, settings: JsonObject = { x: {} }) =>
    compile(manifestWith({ hosts, base_url, settings }));
  const urlWith = (provider: Provider, settings: Readonly<Record<string, string>>) => {
    const result = render(provider, { id: "1" }, accountWith({ settings }));
    return "fault" in result ? result.fault : result.url;
  };

  test("can have a part that a setting names", () => {
    const provider = withHosts(["*.acme.test"], "https://{settings.x}.acme.test");
    assert.equal(urlWith(provider, { x: "one" }), "https://one.acme.test/items/1");
    assert.equal(urlWith(provider, { x: "one.two" }), "host_not_allowed");
    for (const x of ["evil.test/", "evil.test?", "a@b", "evil.test#", "a b", "-", "a..b", "a:1"]) {
      assert.equal(urlWith(provider, { x }), "invalid_value", x);
    }
  });

  test("can be the whole host of a setting", () => {
    const provider = withHosts(["{settings.x}"], "{settings.x}");
    assert.equal(urlWith(provider, { x: "https://one.test/base/" }), "https://one.test/base/items/1");
    assert.equal(urlWith(provider, { x: "one.test" }), "https://one.test/items/1");
    assert.equal(urlWith(provider, { x: "http://one.test" }), "host_not_allowed");
    assert.equal(urlWith(provider, { x: "http://127.0.0.1:8080" }), "http://127.0.0.1:8080/items/1");
    for (const x of ["https://a:b@one.test", "https://one.test?x=1", "https://one.test#x"]) {
      assert.equal(urlWith(provider, { x }), "invalid_value", x);
    }
  });

  test("of a captured URL must be declared", () => {
    const auth = {
      oauth2: {
        authorize: { url: "https://login.acme.test/a" },
        token: { url: "https://login.acme.test/t" },
        captured: { url: "/url" },
      },
    };
    const provider = compile(
      manifestWith({ hosts: ["login.acme.test", "*.my.acme.test"], base_url: "{captured.url}/v2", auth }),
    );
    const urlFor = (url: string) => {
      const account = accountWith({ mode: "oauth2", captured: { url }, credentials: { access_token: "t" } });
      const result = render(provider, { id: "1" }, account);
      return "fault" in result ? result.fault : result.url;
    };
    assert.equal(urlFor("https://one.my.acme.test"), "https://one.my.acme.test/v2/items/1");
    assert.equal(urlFor("https://evil.test"), "host_not_allowed");
    assert.equal(urlFor("https://one.my.acme.test:8443"), "host_not_allowed");
  });
});

suite("a further page", () => {
  const pages = (paginate: JsonObject, request: JsonObject = { method: "GET", path: "/x", query: { q: 1 } }) => {
    const provider = compile(actionWith({ paginate, request, input: anyInput, mutation: { effect: "search" } }));
    const { request: spec, paginate: compiled } = provider.actions.get("item.get")!;
    return (next: { kind: "url"; url: string } | { kind: "param"; value: string | number }) =>
      renderRequest(
        provider,
        spec!,
        { input: { id: 1 }, account: accountWith(), nowMs },
        {
          paginate: compiled,
          page: { pages: 1, items: [], next },
        },
      );
  };

  test("is at the URL that the provider names, if its host is declared", () => {
    const page = pages({ kind: "link", items: "", size: { param: "per_page", value: 100 } });
    const url = "https://api.acme.test/v1/x?page=2&q=1";
    assert.equal((page({ kind: "url", url }) as HttpRequest).url, url);
    assert.equal(
      (page({ kind: "url", url: "/v1/next?page=3" }) as HttpRequest).url,
      "https://api.acme.test/v1/next?page=3",
    );
    assert.deepEqual(faultOf(page({ kind: "url", url: "https://evil.test/x" })), ["host_not_allowed", "url"]);
  });

  test("has its cursor in the query or in the body", () => {
    const query = pages({ kind: "cursor", items: "", cursor: "/next", param: "after" });
    assert.equal(
      (query({ kind: "param", value: "c 2" }) as HttpRequest).url,
      "https://api.acme.test/v1/x?q=1&after=c%202",
    );
    const paginate = { kind: "cursor", items: "", cursor: "/next", param: "/variables/after", in: "body" };
    const body = pages(paginate, { method: "POST", path: "/x", graphql: { query: "{ a }", variables: { n: 1 } } });
    const request = body({ kind: "param", value: "c2" }) as HttpRequest;
    assert.deepEqual(JSON.parse(String(request.body)), { query: "{ a }", variables: { n: 1, after: "c2" } });
  });
});

test("no input changes the host, the number of path segments, other parameters or other headers", () => {
  const provider = providerWith({
    method: "POST",
    path: "/a/{input.id}/b/{input.value|path}/c",
    query: { q: "{input.q}", fixed: "1" },
    headers: { "x-note": "{input.note}" },
    json: { text: "a{input.q}", fixed: true },
  });
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      "..",
      ".",
      "%2e%2e",
      "a/../b",
      "//evil.test",
      "\\evil",
      "a?b=c&d",
      "a#b",
      "a\r\nb: c",
      "@evil.test",
      "\u2028",
      "{input.id}",
    ),
  );
  fc.assert(
    fc.property(text, text, text, text, (id, value, q, note) => {
      const result = render(provider, { id, value, q, note });
      if ("fault" in result) return;
      const url = new URL(result.url);
      const kept = value.replace(/^\//, "").split("/").length;
      assert.equal(url.origin, "https://api.acme.test");
      const segments = url.pathname.split("/");
      assert.equal(segments.length, 6 + kept);
      assert.deepEqual([segments[1], segments[2], segments[4], segments.at(-1)], ["v1", "a", "b", "c"]);
      assert.equal(decodeURIComponent(segments[3]!), id.toWellFormed());
      assert.deepEqual([...url.searchParams.keys()], ["q", "fixed"]);
      assert.equal(url.searchParams.get("q"), q.toWellFormed());
      assert.deepEqual(JSON.parse(String(result.body)), { text: `a${q}`, fixed: true });
      const names = ["accept", "authorization", "content-type", "user-agent", "x-note"];
      assert.deepEqual(Object.keys(result.headers).sort(), names);
    }),
    { numRuns: 1000 },
  );
});
