import { restClient } from "../harness/rest.ts";
import type { TestService } from "../harness/service.ts";

/** A directory that provisions people. */
export interface ScimClient {
  readonly key: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ScimAnswer>;
}

/** An answer to a directory. */
export interface ScimAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read the fields that they expect.
  readonly body: any;
}

/** Creates a directory with a key that has only the scope of SCIM. */
export async function scimClient(service: TestService, adminKey = service.adminKey): Promise<ScimClient> {
  const { body } = await restClient(service.baseUrl, adminKey).call("POST", "/api/v2/api-keys", {
    name: "directory",
    scopes: ["scim:write"],
  });
  const key: string = body.data.secret;
  return {
    key,
    async call(method, path, sent, headers = {}) {
      const response = await fetch(`${service.baseUrl}/scim/v2${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(sent !== undefined && { "content-type": "application/scim+json" }),
          ...headers,
        },
        ...(sent !== undefined && { body: JSON.stringify(sent) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
    },
  };
}

export const userUrn = "urn:ietf:params:scim:schemas:core:2.0:User";
export const enterpriseUrn = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
export const groupUrn = "urn:ietf:params:scim:schemas:core:2.0:Group";
const patchUrn = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

/** The body of a PATCH request. */
export function patchOf(...Operations: object[]): object {
  return { schemas: [patchUrn], Operations };
}
