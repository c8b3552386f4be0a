import { createRedactor, type Redactor, secretsOf } from "../../manifests/index.ts";
import { accountOf, type PreparedAction } from "./prepared-action.ts";

/** A credential that is a whole authorization header, such as `Bearer 1234`. */
const withScheme = /^[A-Za-z][A-Za-z0-9-]{1,19} +(\S.*)$/;

/** Creates a redactor of everything secret that an action's requests contain. */
export function redactorOf(prepared: Pick<PreparedAction, "provider" | "connection">): Redactor {
  const secrets = secretsOf(prepared.provider, accountOf(prepared));
  // A provider may repeat the token alone.
  const tokens = secrets.flatMap((secret) => withScheme.exec(secret)?.[1] ?? []);
  return createRedactor([...secrets, ...tokens]);
}
