import type { Json } from "../../../../platform/document/index.ts";
import { EgressError } from "../../../../platform/egress/index.ts";
import {
  type AccountValues,
  type AnswerClass,
  createRedactor,
  type GuardedHttp,
  type Provider,
  readResponse,
  renderParameter,
  renderRequest,
  secretsOf,
  valueAt,
} from "../../manifests/index.ts";
import type { AccountChoice } from "../domain/connection.ts";
import { accountTextAt, capturedFrom } from "../tokens/token-answer.ts";

/** The result of probing an account. Codes and messages are redacted. */
export type ProbeResult =
  | {
      readonly kind: "ok";
      /** At least one, with further values that the manifest keeps from the answer. */
      readonly accounts: readonly AccountChoice[];
    }
  /** The manifest has no request that identifies an account. */
  | { readonly kind: "unverified" }
  | {
      readonly kind: "failed";
      /** `unreachable`: no response. `unusable`: the request cannot be made. */
      readonly class: Exclude<AnswerClass, "ok"> | "unreachable" | "unusable";
      readonly code: string;
      readonly message: string;
    };

/** Requests the account that credentials belong to. */
export type ProbeAccount = (provider: Provider, account: AccountValues, nowMs: number) => Promise<ProbeResult>;

const probeMs = 15_000;
const bytesMax = 256 * 1024;
const accountsMax = 1000;

/** Creates the probe. Every request goes through the guard. */
export function createAccountProbe(http: GuardedHttp): ProbeAccount {
  return async (provider, account, nowMs) => {
    const auth = provider.auth(account.mode);
    if (auth === undefined) return failed("unusable", "unsupported_auth", "The provider does not have this mode.");
    const probe = auth.mode === "none" ? undefined : auth.account;
    if (probe === undefined) return { kind: "unverified" };
    const redactor = createRedactor(secretsOf(provider, account));
    const request = renderRequest(provider, probe.request, { input: {}, account, nowMs });
    if ("fault" in request) {
      return failed("unusable", request.fault, redactor.text(`${request.place} ${request.message}`));
    }
    try {
      const answer = await http.send(provider, account.settings, request, { timeoutMs: probeMs, bytesMax });
      const read = readResponse(provider, { errors: provider.errors }, answer, { nowMs });
      if (read.class !== "ok") return failed(read.class, redactor.text(read.code), redactor.text(read.message));
      const listed = probe.items === undefined ? [read.output] : valueAt(read.output, probe.items);
      // A provider may list an account once for each of its products.
      const found = new Map<string, AccountChoice>();
      for (const each of Array.isArray(listed) ? (listed as Json[]) : []) {
        const id =
          typeof probe.id === "string" ? accountTextAt(each, probe.id) : renderParameter(probe.id, account, nowMs);
        if (typeof id !== "string" || id === "") return noAccount;
        if (found.has(id)) continue;
        found.set(id, { id, label: accountTextAt(each, probe.label), captured: capturedFrom(each, probe.captured) });
      }
      if (found.size === 0) return noAccount;
      if (found.size > accountsMax) {
        const message = `The provider's answer names more than ${accountsMax} accounts.`;
        return failed("malformed", "too_many_accounts", message);
      }
      return { kind: "ok", accounts: [...found.values()] };
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      return failed("unreachable", error.reason, redactor.text(error.message));
    }
  };
}

const noAccount = failed("malformed", "no_account", "The provider's answer names no account.");

function failed(answerClass: (ProbeResult & { kind: "failed" })["class"], code: string, message: string): ProbeResult {
  return { kind: "failed", class: answerClass, code, message };
}
