import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Json, JsonObject } from "../../../../../platform/document/index.ts";
import { actionWith, compile, manifestWith, smallManifest } from "../../testing/manifest-documents.ts";
import type { Provider } from "../provider.ts";
import type { ActionAnswer, PageState } from "../response-spec.ts";
import { nextLink } from "./next-page.ts";
import { readResponse } from "./read-response.ts";
import { readTime } from "./time-hint.ts";

const nowMs = Date.parse("2027-01-31T12:00:00Z");

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json | undefined;
  readonly text?: string;
}

function read(provider: Provider, { status = 200, headers = {}, body, text }: Answer, page?: PageState): ActionAnswer {
  const bytes = Buffer.from(text ?? (body === undefined ? "" : JSON.stringify(body)));
  const action = provider.actions.get("item.get")!;
  return readResponse(provider, action, { status, headers, body: bytes }, { nowMs, page });
}

const small = compile(smallManifest);
const okOutput = (provider: Provider, answer: Answer) => {
  const result = read(provider, answer);
  assert.equal(result.class, "ok", JSON.stringify(result));
  return result.class === "ok" ? result.output : undefined;
};

test("every status has a default class", () => {
  const classes = [200, 204, 302, 400, 401, 403, 404, 409, 410, 422, 429, 500, 503].map((status) => [
    status,
    read(small, { status }).class,
  ]);
  assert.deepEqual(classes, [
    [200, "ok"],
    [204, "ok"],
    [302, "failed"],
    [400, "invalid_input"],
    [401, "auth_expired"],
    [403, "permission_denied"],
    [404, "not_found"],
    [409, "conflict"],
    [410, "failed"],
    [422, "invalid_input"],
    [429, "rate_limited"],
    [500, "unavailable"],
    [503, "unavailable"],
  ]);
});

suite("an output", () => {
  const answer: Answer = {
    status: 201,
    headers: { "x-id": "7" },
    body: { id: 1, list: [{ a: 1, b: 2 }, { b: 3 }], "a/b": { "~": 4 } },
  };
  const outputOf = (output: Json | undefined, more: JsonObject = {}) =>
    okOutput(compile(actionWith({ output, ...more })), answer);

  test("is read by pointers; absent members are left out", () => {
    assert.deepEqual(outputOf({ id: "/id", none: "/x/y", deep: { v: "/a~1b/~0" }, first: "/list/0/a" }), {
      id: 1,
      deep: { v: 4 },
      first: 1,
    });
    assert.deepEqual(outputOf("/list/1"), { b: 3 });
    assert.deepEqual(outputOf(undefined), answer.body);
  });

  test("can have status, headers, text, constants and lists", () => {
    assert.deepEqual(outputOf({ s: "$status", h: "$header.x-id", all: "$headers", c: { $const: [1] } }), {
      s: 201,
      h: "7",
      all: { "x-id": "7" },
      c: [1],
    });
    assert.deepEqual(outputOf({ $list: "/list", $each: { a: "/a" } }), [{ a: 1 }, {}]);
    assert.equal(outputOf("$base64"), Buffer.from(JSON.stringify(answer.body)).toString("base64"));
  });

  test("inherited members are absent", () => {
    assert.deepEqual(outputOf({ a: "/constructor", b: "/list/length", c: "/__proto__" }), {});
  });
});

suite("a body", () => {
  const withKind = (response: string, text: string) => read(compile(actionWith({ response, output: "" })), { text });

  test("that is not JSON is malformed if JSON is expected", () => {
    assert.deepEqual(withKind("json", "<html>"), {
      class: "malformed",
      code: "not_json",
      message: "The provider's answer is not JSON.",
    });
    assert.equal(withKind("json", "").class, "ok");
  });

  test("that nests too deep is malformed", () => {
    const deep = (levels: number) => withKind("json", `${"[".repeat(levels)}${"]".repeat(levels)}`);
    assert.equal(deep(100).class, "ok");
    for (const levels of [101, 200_000]) {
      const answer = deep(levels);
      assert.deepEqual([answer.class, answer.class === "ok" ? "" : answer.code], ["malformed", "too_deep"]);
    }
  });

  test("can be text, anything or nothing", () => {
    assert.deepEqual(withKind("text", "hello"), { class: "ok", output: "hello" });
    assert.deepEqual(withKind("any", "hello"), { class: "ok", output: "hello" });
    assert.deepEqual(withKind("any", '{"a":1}'), { class: "ok", output: { a: 1 } });
    assert.deepEqual(withKind("none", "<html>"), { class: "ok", output: null });
  });
});

suite("an error rule", () => {
  const provider = compile(
    manifestWith({
      errors: [
        { status: [200], when: "body.ok == false && body.error == 'expired'", as: "auth_expired", code: "/error" },
        { status: [200], when: "body.ok == false", as: "failed", code: "/error", message: "/detail" },
        {
          status: ["5xx"],
          when: "headers['x-busy'] == 'yes'",
          as: "rate_limited",
          until: { body: "/wait", unit: "s" },
        },
        { status: [404], code: "/code" },
        { status: [409], as: "ok" },
      ],
    }),
  );

  test("classifies by status, headers and body; the first match wins", () => {
    assert.deepEqual(read(provider, { body: { ok: false, error: "expired" } }), {
      class: "auth_expired",
      code: "expired",
      message: "expired",
    });
    assert.deepEqual(read(provider, { body: { ok: false, error: "x", detail: "why" } }), {
      class: "failed",
      code: "x",
      message: "why",
    });
    assert.equal(read(provider, { body: { ok: true } }).class, "ok");
    assert.equal(read(provider, { status: 409, body: { id: 1 } }).class, "ok");
  });

  test("about members that the answer lacks does not hold", () => {
    for (const body of [{}, [], null, "text"]) assert.equal(read(provider, { body }).class, "ok");
    assert.equal(read(provider, { status: 500 }).class, "unavailable");
  });

  test("without a class keeps the default one", () => {
    assert.deepEqual(read(provider, { status: 404, body: { code: 17, message: "Gone." } }), {
      class: "not_found",
      code: "17",
      message: "Gone.",
    });
  });

  test("can find its hint in the body", () => {
    const answer = read(provider, { status: 503, headers: { "x-busy": "yes" }, body: { wait: 2.5 } });
    assert.deepEqual(answer, {
      class: "rate_limited",
      code: "http_503",
      message: "The provider answered with status 503.",
      retryAtMs: nowMs + 2500,
    });
  });

  test("of an action comes before those of the provider", () => {
    const own = compile(
      manifestWith({
        errors: [{ status: [404], as: "failed" }],
        actions: { "item.get": { ...smallManifest.actions["item.get"], errors: [{ status: [404], as: "conflict" }] } },
      }),
    );
    assert.equal(read(own, { status: 404 }).class, "conflict");
  });
});

test("messages of providers are found in common places and shortened", () => {
  const messageOf = (body: Json) => {
    const answer = read(small, { status: 400, body });
    return answer.class === "ok" ? "" : answer.message;
  };
  assert.equal(messageOf({ error: { message: "one" } }), "one");
  assert.equal(messageOf({ message: "two" }), "two");
  assert.equal(messageOf({ error: "three", error_description: "four" }), "four");
  assert.equal(messageOf({ errors: [{ detail: "five" }] }), "five");
  assert.equal(messageOf({ message: "x".repeat(2000) }).length, 512);
  assert.equal(messageOf([]), "The provider answered with status 400.");
});

suite("a hint", () => {
  const cases: readonly (readonly [text: string, unit: Parameters<typeof readTime>[1], afterMs: number | undefined])[] =
    [
      ["5", "retry_after", 5000],
      ["Sun, 31 Jan 2027 12:01:00 GMT", "retry_after", 60_000],
      ["soon", "retry_after", undefined],
      ["0.5", "s", 500],
      ["250", "ms", 250],
      [String(nowMs / 1000 + 7), "epoch_s", 7000],
      [String(nowMs + 9), "epoch_ms", 9],
      ["2027-01-31T12:00:03Z", "rfc3339", 3000],
      ["6m0s", "duration", 360_000],
      ["1h2m3.5s", "duration", 3_723_500],
      ["20ms", "duration", 20],
      ["6 minutes", "duration", undefined],
      ["-5", "s", undefined],
      ["1", "epoch_s", 0],
      ["99999999999", "s", 7 * 86_400_000],
    ];
  for (const [text, unit, afterMs] of cases) {
    test(`${text} as ${unit}`, () => {
      assert.equal(readTime(text, unit, nowMs), afterMs === undefined ? undefined : nowMs + afterMs);
    });
  }

  test("of Retry-After is used without a rule", () => {
    for (const status of [429, 503]) {
      const answer = read(small, { status, headers: { "retry-after": "3" } });
      assert.equal(answer.retryAtMs, nowMs + 3000);
    }
  });

  test("of a successful answer that used the last call is reported", () => {
    const rate_limit = { remaining: "x-left", until: { header: "x-reset", unit: "s" } };
    const provider = compile(manifestWith({ rate_limit }));
    const headers = { "x-left": "0", "x-reset": "60" };
    assert.deepEqual(read(provider, { headers, body: { id: 1 } }), {
      class: "ok",
      output: { id: 1 },
      retryAtMs: nowMs + 60_000,
    });
    assert.equal(read(provider, { headers: { ...headers, "x-left": "1" }, body: {} }).retryAtMs, undefined);
  });
});

suite("pages", () => {
  const provider = (paginate: JsonObject) =>
    compile(actionWith({ paginate, output: { ids: { $list: "/items", $each: "/id" } } }));
  const items = (...ids: number[]) => ids.map((id) => ({ id }));

  /** Reads answers until there is no next page. Returns the next positions and the last output. */
  function readAll(paginate: JsonObject, answers: readonly Answer[]) {
    const compiled = provider(paginate);
    const next: unknown[] = [];
    let page: PageState | undefined;
    for (const answer of answers) {
      const result = read(compiled, answer, page);
      assert.equal(result.class, "ok", JSON.stringify(result));
      if (result.class !== "ok") break;
      page = result.nextPage;
      if (page === undefined) return { next, output: result.output, truncated: result.truncated };
      next.push(page.next.kind === "url" ? page.next.url : page.next.value);
    }
    throw new Error("There are more pages than answers.");
  }

  test("follow Link headers and are merged", () => {
    const link = '<https://api.acme.test/x?page=1>; rel="prev", <https://api.acme.test/x?page=3>; rel="next"';
    const answers = [{ headers: { link }, body: { items: items(1, 2) } }, { body: { items: items(3) } }];
    assert.deepEqual(readAll({ kind: "link", items: "/items" }, answers), {
      next: ["https://api.acme.test/x?page=3"],
      output: { ids: [1, 2, 3] },
      truncated: undefined,
    });
  });

  test("follow cursors until there is none", () => {
    const answers = [
      { body: { items: items(1), next: "a" } },
      { body: { items: items(2), next: "b" } },
      { body: { items: items(3), next: "" } },
    ];
    const result = readAll({ kind: "cursor", items: "/items", cursor: "/next", param: "c" }, answers);
    assert.deepEqual([result.next, result.output], [["a", "b"], { ids: [1, 2, 3] }]);
  });

  test("can take the cursor from the last item, while there are more", () => {
    const paginate = { kind: "cursor", items: "/items", cursor: { last_item: "/id" }, more: "/more", param: "after" };
    const answers = [{ body: { items: items(1, 2), more: true } }, { body: { items: items(3), more: false } }];
    assert.deepEqual(readAll(paginate, answers).next, [2]);
  });

  test("are counted by page or offset until one is not full", () => {
    const size = { param: "n", value: 2 };
    const answers = [{ body: { items: items(1, 2) } }, { body: { items: items(3, 4) } }, { body: { items: items(5) } }];
    assert.deepEqual(readAll({ kind: "page", items: "/items", param: "p", size }, answers).next, [2, 3]);
    assert.deepEqual(readAll({ kind: "offset", items: "/items", param: "o", size }, answers).next, [2, 4]);
  });

  test("end at the maximum, and say so", () => {
    const answers = [{ body: { items: items(1), next: "a" } }, { body: { items: items(2), next: "b" } }];
    const result = readAll({ kind: "cursor", items: "/items", cursor: "/next", param: "c", max_pages: 2 }, answers);
    assert.deepEqual([result.output, result.truncated], [{ ids: [1, 2] }, true]);
  });

  test("end truncated when the provider repeats a cursor", () => {
    const answers = [{ body: { items: items(1), next: "a" } }, { body: { items: items(2), next: "a" } }];
    const result = readAll({ kind: "cursor", items: "/items", cursor: "/next", param: "c" }, answers);
    assert.deepEqual([result.output, result.truncated], [{ ids: [1, 2] }, true]);
  });

  test("without a list are malformed", () => {
    const answer = read(provider({ kind: "link", items: "/items" }), { body: { items: {} } });
    assert.deepEqual([answer.class, answer.class === "ok" ? "" : answer.code], ["malformed", "no_items"]);
  });

  test("of Link headers are found in all notations", () => {
    const cases: readonly (readonly [string, string | undefined])[] = [
      ["<https://a.test/?p=2>; rel=next", "https://a.test/?p=2"],
      ['<https://a.test/,;>; title="a, b"; rel="last next"', "https://a.test/,;"],
      ['<https://a.test/?c=1>; rel="next"; results="false"; cursor="0:1:1"', undefined],
      ['<https://a.test/?c=1>; rel="next"; results="true"', "https://a.test/?c=1"],
      ['<https://a.test/>; rel="prev"', undefined],
      ["", undefined],
      ["<".repeat(16_000), undefined],
      [`<a>${"; a = ".repeat(3000)}`, undefined],
      [`<a>;a=${" ".repeat(16_000)}x`, undefined],
    ];
    for (const [header, url] of cases) assert.equal(nextLink(header), url, header);
  });
});
