import { isJsonObject, type Json, memberPath } from "../../../../../../platform/document/index.ts";
import { type CompileContext, providerScope, type TemplateScope } from "../compile-context.ts";
import { parseFields } from "../fields.ts";
import { suggest } from "../parse-template.ts";
import { type AuthMode, type AuthSpec, authModes, modes } from "./modes.ts";

const configNames = ["client_id", "client_secret", "private_key", "key_id"];

/** Fields that a mode has unless the manifest declares others. */
const defaultFields: Partial<Record<AuthMode, Json>> = {
  oauth2_cc: { client_id: { title: "Client id", secret: false }, client_secret: { title: "Client secret" } },
  basic: { username: { title: "User name", secret: false }, password: { title: "Password" } },
  jwt: {
    client_email: { title: "Service account e-mail", secret: false },
    private_key: { title: "Private key", multiline: true },
  },
  aws_sigv4: {
    access_key_id: { title: "Access key id", secret: false },
    secret_access_key: { title: "Secret access key" },
    session_token: { title: "Session token", required: false },
  },
};

/** Fields that a mode must have. */
const neededFields: Partial<Record<AuthMode, readonly string[]>> = {
  oauth2_cc: ["client_id", "client_secret"],
  jwt: ["private_key"],
  signed_jwt: ["private_key"],
  aws_sigv4: ["access_key_id", "secret_access_key"],
};

/** Credentials that the service obtains itself. */
const obtained: Partial<Record<AuthMode, readonly string[]>> = {
  oauth2: ["access_token", "refresh_token", "id_token"],
  oauth2_cc: ["access_token"],
  two_step: ["access_token"],
  jwt: ["access_token"],
  signed_jwt: ["access_token"],
};

/** The names that all modes capture; the templates of the manifest may use them. */
export function capturedNames(auth: Json | undefined): ReadonlySet<string> {
  const names = new Set<string>();
  if (!isJsonObject(auth)) return names;
  for (const mode of Object.values(auth)) {
    if (!isJsonObject(mode)) continue;
    const inAccount = isJsonObject(mode.account) ? mode.account.captured : undefined;
    for (const each of [mode.captured, mode.captured_query, inAccount]) {
      if (isJsonObject(each)) for (const name of Object.keys(each)) names.add(name);
    }
  }
  return names;
}

/** The scopes that OAuth offers. */
export function availableScopes(auth: Json | undefined): ReadonlySet<string> {
  const oauth2 = isJsonObject(auth) ? auth.oauth2 : undefined;
  const scopes = isJsonObject(oauth2) ? oauth2.scopes : undefined;
  const available = isJsonObject(scopes) ? scopes.available : undefined;
  return new Set(isJsonObject(available) ? Object.keys(available) : []);
}

/** Reads all modes, in the order in which they are offered. */
export function* parseAuth(value: Json | undefined, context: CompileContext): Generator<void, readonly AuthSpec[]> {
  const { violations } = context;
  if (!isJsonObject(value) || Object.keys(value).length === 0) {
    violations.add("auth", "required", `must be an object with at least one of ${authModes.join(", ")}`);
    return [];
  }
  for (const mode of Object.keys(value)) {
    if (authModes.includes(mode as AuthMode)) continue;
    violations.add(memberPath("auth", mode), "unknown_field", suggest(mode, authModes, "modes"));
  }
  const specs: AuthSpec[] = [];
  for (const mode of authModes) {
    if (!Object.hasOwn(value, mode)) continue;
    const spec = yield* parseMode(mode, value[mode], context);
    if (spec !== undefined) specs.push(spec);
  }
  return specs;
}

function* parseMode(
  mode: AuthMode,
  value: Json | undefined,
  context: CompileContext,
): Generator<void, AuthSpec | undefined> {
  const reader = modes[mode].open(value, `auth.${mode}`, context);
  if (reader === undefined) return undefined;
  const secret = { secret: true };
  const written = reader.get("fields") ?? defaultFields[mode];
  const fields = yield* parseFields(written, reader.pathOf("fields"), context, secret);
  const config = yield* parseFields(reader.get("config"), reader.pathOf("config"), context, secret);
  for (const name of neededFields[mode] ?? []) {
    if (!fields.some((each) => each.name === name)) reader.refuse("fields", "required", `must have ${name}`);
  }
  const scope: TemplateScope = {
    ...providerScope(context),
    credentials: new Set([...fields.map(({ name }) => name), ...(obtained[mode] ?? [])]),
    config: mode === "oauth2" ? new Set([...configNames, ...config.map(({ name }) => name)]) : undefined,
  };
  return modes[mode].readMembers(reader, { ...context, scope, fields, config });
}
