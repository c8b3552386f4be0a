import { generateKeyPairSync } from "node:crypto";
import type { AuthMode } from "../domain/language/auth/modes.ts";
import type { AccountValues, Provider } from "../domain/provider.ts";

/** An account with an example of every setting, captured value and credential that the manifest uses. */
export function sampleAccount(provider: Provider, mode: AuthMode): AccountValues {
  const auth = provider.auth(mode)!;
  const text = ({ name, example, choices, default: fallback }: (typeof provider.settings)[number]) =>
    fallback ?? choices?.[0] ?? (example === "" ? `${name}-sample` : example);
  const captured: Record<string, string> = {};
  for (const each of provider.authModes.map((other) => provider.auth(other)!)) {
    const names = [
      ...("captured" in each ? each.captured.keys() : []),
      ...("capturedQuery" in each ? each.capturedQuery.keys() : []),
      ...("account" in each ? (each.account?.captured.keys() ?? []) : []),
    ];
    for (const name of names) captured[name] = sampleCaptured(provider, name);
  }
  return {
    mode,
    settings: Object.fromEntries(provider.settings.map((field) => [field.name, text(field)])),
    captured,
    account: { id: "account-1", label: "Account" },
    credentials: {
      ...Object.fromEntries(auth.fields.map((field) => [field.name, text(field)])),
      ...("token" in auth && { access_token: "access-token-sample" }),
      ...(auth.mode === "signed_jwt" && { private_key: sampleKey(auth.algorithm) }),
    },
    config: { client_id: "client-id-sample", client_secret: "client-secret-sample" },
  };
}

function sampleKey(algorithm: "RS256" | "ES256"): string {
  const { privateKey } =
    algorithm === "ES256"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("rsa", { modulusLength: 2048 });
  return privateKey.export({ format: "pem", type: "pkcs8" }).toString();
}

/** A captured value that is the base URL must have a declared host. */
function sampleCaptured(provider: Provider, name: string): string {
  const [first] = provider.baseUrl.parts;
  if (typeof first === "string" || first?.root !== "captured" || first.path[0] !== name) return `${name}-sample`;
  return `https://${provider.hosts.patterns.find((each) => each.includes("*"))?.replace("*", "sample") ?? provider.hosts.patterns[0]}`;
}
