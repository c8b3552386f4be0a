import type { OpenConnection } from "../connections/index.ts";
import { type CallbackSpec, RenderError, renderText, renderValue } from "../manifests/index.ts";

/**
 * Returns the proof of a connection's callbacks: its secret, or the topic of SNS. Undefined if the connection has none; its
 * provider then sends no callbacks.
 */
export function secretOf({ verify, secret }: CallbackSpec, account: OpenConnection): string | undefined {
  const values = { input: {}, account, nowMs: 0 };
  try {
    const value = verify.kind === "aws_sns" ? renderText(verify.topic, values) : secret && renderValue(secret, values);
    return typeof value === "string" && value !== "" ? value : undefined;
  } catch (error) {
    if (error instanceof RenderError) return undefined;
    throw error;
  }
}
