import type { JsonObject } from "../../../../../platform/document/index.ts";
import { schemaOfSchemas } from "../../../../../platform/json-schema/index.ts";
import { actionSchemas } from "./action.ts";
import { authPartSchemas } from "./auth/auth-members.ts";
import { modeSchemas } from "./auth/modes.ts";
import { fieldSchemas } from "./fields.ts";
import { manifest } from "./manifest.ts";
import { ref } from "./members.ts";
import { messageSchemas } from "./messages/messages.ts";
import { request } from "./request.ts";
import { responseSchemas } from "./response.ts";
import { triggerSchema } from "./trigger.ts";
import { verifySchema } from "./verify.ts";

/**
 * The JSON Schema (draft 2020-12) of the manifest language, for editors and other tools. It describes the structure. It cannot
 * express everything that the compiler checks: placeholders, hosts, expressions, references, and relations between members.
 */
export function manifestSchema(): JsonObject {
  const { hint, error, output, pagination } = responseSchemas;
  const { account, ...authParts } = authPartSchemas;
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:switchyard:connector-manifest:1",
    title: "Connector manifest",
    ...manifest.schema,
    $defs: {
      ...fieldSchemas,
      hint,
      error,
      request: request.schema,
      account,
      output,
      pagination,
      ...authParts,
      ...modeSchemas,
      ...actionSchemas,
      trigger: triggerSchema,
      verify: verifySchema,
      ...messageSchemas,
      schema: schemaWithReferences(),
    },
  };
}

/** The schema of schemas, which may also be references. */
function schemaWithReferences(): JsonObject {
  const { properties, ...rest } = schemaOfSchemas(ref("schema"));
  const reference = { type: "string", pattern: "^#/schemas/" };
  return { ...rest, properties: { ...(properties as JsonObject), $ref: reference } };
}
