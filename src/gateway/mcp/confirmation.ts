import { hash } from "node:crypto";
import type { Principal } from "../../platform/access/index.ts";
import { canonicalJson, createSigner } from "../../platform/crypto/index.ts";
import type { Tool, ToolArguments } from "./tools.ts";

/** A call that its user must confirm. */
interface Subject {
  readonly tool: Tool;
  readonly args: ToolArguments;
  readonly principal: Principal;
}

/** Issues and verifies the state that a client returns with its user's answer. No node stores anything meanwhile. */
export type Confirmations = ReturnType<typeof createConfirmations>;

/** How long a user may take to answer. */
const lifetimeMs = 10 * 60_000;

/** Creates the confirmations. All nodes have the same secret, so that any of them accepts the answer. */
export function createConfirmations(secret: Buffer, now: () => number) {
  const signer = createSigner(secret);
  const textOf = ({ tool, args, principal }: Subject, expiresAtMs: string) =>
    canonicalJson([tool.name, principal.tenantId, principal.kind, principal.subject, digestOf(args), expiresAtMs]);
  return {
    /** Creates the state of a question: whose call it is about, its arguments and when it expires. */
    issue(subject: Subject): string {
      const expiresAtMs = String(now() + lifetimeMs);
      return `${expiresAtMs}.${signer.sign(textOf(subject, expiresAtMs)).toString("base64url")}`;
    },
    /** Verifies that the state was issued for the same call of the same caller and has not expired. */
    verify(subject: Subject, state: unknown): boolean {
      const [, expiresAtMs, signature] = /^(\d{1,15})\.([\w-]{22})$/.exec(typeof state === "string" ? state : "") ?? [];
      if (expiresAtMs === undefined || Number(expiresAtMs) < now()) return false;
      return signer.verify(textOf(subject, expiresAtMs), Buffer.from(signature!, "base64url"));
    },
  };
}

function digestOf(args: ToolArguments): string {
  return hash("sha256", canonicalJson(args), "base64url");
}
