import type { TenantId } from "../../../../platform/access/index.ts";
import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Catalogue } from "../../manifests/index.ts";
import type { ConnectionFailure, OpenConnections } from "../connection-opener.ts";
import { type Account, settleAccount } from "../domain/connection.ts";
import type { createRejection } from "../refresh/rejected-credentials.ts";
import type { ProbeAccount } from "./connection-probe.ts";

export interface TestResult {
  readonly ok: boolean;
  readonly class: string;
  readonly code: string;
  readonly message: string;
  readonly account: Account | undefined;
  readonly durationMs: number;
}

interface Dependencies {
  readonly clock: Clock;
  readonly catalogue: Pick<Catalogue, "provider">;
  readonly open: OpenConnections;
  readonly probe: ProbeAccount;
  readonly markRejected: ReturnType<typeof createRejection>;
}

const faultTexts: Readonly<Record<ConnectionFailure, string>> = {
  connection_missing: "The connection does not exist.",
  revoked: "The connection is revoked. Create another one.",
  needs_account:
    "The grant reaches several accounts. Choose one of account_choices with UpdateConnection (account_id).",
  needs_reauth: "The end user must grant access again.",
  expired: "The credentials have expired. Create another connection.",
  decrypt_failed: "The credentials cannot be decrypted. The operator must restore the master key that sealed them.",
  refresh_failed: "The credentials have expired and cannot be refreshed now. See last_refresh_error of the connection.",
};

const noAccount = { id: "", label: "" };
const severalText = "The credentials reach several accounts. Reconnect with a connect session, and choose one.";
const missingText =
  "The credentials do not reach the account of the connection. Reconnect it with a connect session that grants access to that account.";

/** Creates the test of connections: it opens the connection and requests its account at the provider. */
export function createConnectionTester({ clock, catalogue, open, probe, markRejected }: Dependencies) {
  async function attempt(tenantId: TenantId, id: string): Promise<Omit<TestResult, "durationMs">> {
    for (let isRepeat = false; ; isRepeat = true) {
      const opened = await open(tenantId, id, { isTest: true });
      if (typeof opened === "string") return failed("unusable", opened, faultTexts[opened]);
      const provider = await catalogue.provider(tenantId, opened.providerKey);
      if (provider === undefined || provider.auth(opened.mode) === undefined) return unverified;
      const result = await probe(provider, opened, clock.now());
      switch (result.kind) {
        case "ok": {
          const known = opened.account.id;
          const reached = { account: noAccount, captured: {}, accountChoices: result.accounts };
          const { account } = settleAccount(reached, known);
          if (account.id === "" && known === "") return failed("unusable", "needs_account", severalText);
          if (known !== "" && known !== account.id) return failed("unusable", "account_missing", missingText);
          return { ok: true, class: "ok", code: "", message: "", account };
        }
        case "unverified":
          return unverified;
        case "failed": {
          const { class: answerClass, code, message } = result;
          if (answerClass !== "auth_expired") return failed(answerClass, code, message);
          const rejection = await markRejected(tenantId, id, opened.credentialVersion, "rejected");
          if (rejection !== "renewed" || isRepeat) return failed(answerClass, code, message);
        }
      }
    }
  }

  return async function testConnection(tenantId: TenantId, id: string): Promise<TestResult> {
    const startedAtMs = performance.now();
    const result = await attempt(tenantId, id);
    return { ...result, durationMs: Math.round(performance.now() - startedAtMs) };
  };
}

const unverified = {
  ok: false,
  class: "unverified",
  code: "",
  message: "The credentials can be used, but the provider offers no request to check them.",
  account: undefined,
} as const;

function failed(answerClass: string, code: string, message: string) {
  return { ok: false, class: answerClass, code, message, account: undefined };
}
