import assert from "node:assert/strict";
import { test } from "node:test";
import { type Config, ConfigError } from "../config/index.ts";
import { readOperations } from "../definitions/index.ts";
import { checkSunsetDates } from "./served-operations.ts";

const check = (dates: Record<string, string>) =>
  checkSunsetDates(readOperations(), { "api.sunset_dates": dates } as unknown as Config);

test("a removal date names a deprecated operation, or the start fails", () => {
  check({ "service.api.MemberService/ListTenantMembers": "2027-01-31" });
  for (const id of ["service.api.MemberService/ListTenantMember", "service.api.PoolService/GetPool"]) {
    assert.throws(
      () => check({ [id]: "2027-01-31" }),
      (error) => error instanceof ConfigError && error.message.startsWith(`api.sunset_dates: ${id} `),
    );
  }
});
