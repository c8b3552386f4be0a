import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { signAws } from "./sign-aws.ts";

// The test suite that AWS publishes for Signature Version 4.
const suiteCredentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const suiteScope = { service: "service", region: "us-east-1", nowMs: Date.parse("2015-08-30T12:36:00Z") };
const sessionToken =
  "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

interface Vector {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly sessionToken?: string;
  readonly signedHeaders: string;
  readonly signature: string;
}

const unreserved = "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const vectors: readonly Vector[] = [
  {
    name: "get-vanilla",
    method: "GET",
    path: "/",
    signedHeaders: "host;x-amz-date",
    signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
  },
  {
    name: "get-vanilla-query-order-key-case",
    method: "GET",
    path: "/?Param2=value2&Param1=value1",
    signedHeaders: "host;x-amz-date",
    signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
  },
  {
    name: "get-vanilla-empty-query-key",
    method: "GET",
    path: "/?Param1=value1",
    signedHeaders: "host;x-amz-date",
    signature: "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb",
  },
  {
    name: "get-vanilla-query-unreserved",
    method: "GET",
    path: `/?${unreserved}=${unreserved}`,
    signedHeaders: "host;x-amz-date",
    signature: "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197",
  },
  {
    name: "get-unreserved",
    method: "GET",
    path: `/${unreserved}`,
    signedHeaders: "host;x-amz-date",
    signature: "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f",
  },
  {
    name: "get-relative",
    method: "GET",
    path: "/example/..",
    signedHeaders: "host;x-amz-date",
    signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
  },
  {
    name: "get-header-value-trim",
    method: "GET",
    path: "/",
    headers: { "My-Header1": " value1", "My-Header2": ' "a   b   c"' },
    signedHeaders: "host;my-header1;my-header2;x-amz-date",
    signature: "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
  },
  {
    name: "post-vanilla",
    method: "POST",
    path: "/",
    signedHeaders: "host;x-amz-date",
    signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
  },
  {
    name: "post-header-value-case",
    method: "POST",
    path: "/",
    headers: { "My-Header1": "VALUE1" },
    signedHeaders: "host;my-header1;x-amz-date",
    signature: "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
  },
  {
    name: "post-x-www-form-urlencoded",
    method: "POST",
    path: "/",
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: "Param1=value1",
    signedHeaders: "content-type;host;x-amz-date",
    signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
  },
  {
    name: "post-sts-header-before",
    method: "POST",
    path: "/",
    sessionToken,
    signedHeaders: "host;x-amz-date;x-amz-security-token",
    signature: "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
  },
];

suite("the signature is the published one", () => {
  for (const { name, method, path, headers = {}, body, signedHeaders, signature, ...rest } of vectors) {
    test(name, () => {
      const url = `https://example.amazonaws.com${path}`;
      const signed = signAws({ method, url, headers, body }, { ...suiteCredentials, ...rest }, suiteScope);
      assert.equal(
        signed.authorization,
        `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${signedHeaders}, Signature=${signature}`,
      );
    });
  }
});

// The examples in the documentation of S3.
suite("the signature of S3 is the published one", () => {
  const credentials = {
    accessKeyId: "AKIAIOSFODNN7EXAMPLE",
    secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  };
  const scope = { service: "s3", region: "us-east-1", nowMs: Date.parse("2013-05-24T00:00:00Z") };
  const examples: readonly (readonly [string, string, Record<string, string>, string | undefined, string])[] = [
    [
      "GET",
      "/test.txt",
      { range: "bytes=0-9" },
      undefined,
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    ],
    [
      "PUT",
      "/test%24file.text",
      { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" },
      "Welcome to Amazon S3.",
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    ],
    ["GET", "/?lifecycle", {}, undefined, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"],
    ["GET", "/?max-keys=2&prefix=J", {}, undefined, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"],
  ];
  for (const [method, path, headers, body, signature] of examples) {
    test(`${method} ${path}`, () => {
      const url = `https://examplebucket.s3.amazonaws.com${path}`;
      assert.ok(
        signAws({ method, url, headers, body }, credentials, scope).authorization!.endsWith(`Signature=${signature}`),
      );
    });
  }
});
