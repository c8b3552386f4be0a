import assert from "node:assert/strict";
import { test } from "node:test";
import { freshTenant } from "../../../test/harness/context.ts";
import { newTenantSecret, tenantOfSecret } from "./index.ts";

test("a secret names its tenant, and any other text names none", () => {
  const tenantId = freshTenant();
  const secret = newTenantSecret(tenantId);
  assert.equal(tenantOfSecret(secret), tenantId);
  assert.notEqual(newTenantSecret(tenantId), secret);
  for (const text of ["", secret.slice(1), `${secret}x`, secret.slice(26), `\0${secret.slice(1)}`]) {
    assert.equal(tenantOfSecret(text), "");
  }
});
