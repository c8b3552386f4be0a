import { createRedactor, type HttpRequest, type Redactor, secretsOf } from "../../manifests/index.ts";
import { accountOf, type PreparedAction } from "./prepared-action.ts";

/** A credential that is a whole authorization header, such as `Bearer 1234`. */
const withScheme = /^[A-Za-z][A-Za-z0-9-]{1,19} +(\S.*)$/;

/** Creates a redactor of everything secret that an action's requests contain. */
export function redactorOf(prepared: Pick<PreparedAction, "provider" | "connection">): Redactor {
  return createRedactor(withTokens(secretsOf(prepared.provider, accountOf(prepared))));
}

/** Creates a redactor of what a request is authorized with, which can be derived from credentials, such as a signed token. */
export function authorizationRedactorOf({ headers: { authorization = "" } }: HttpRequest): Redactor {
  return createRedactor(withTokens([authorization]));
}

/** Adds the tokens of whole headers, because a provider may repeat the token alone. */
function withTokens(secrets: readonly string[]): readonly string[] {
  return [...secrets, ...secrets.flatMap((secret) => withScheme.exec(secret)?.[1] ?? [])];
}
