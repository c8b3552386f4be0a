import { isJsonObject, type Json, memberPath, ObjectReader } from "../../../../../../platform/document/index.ts";
import { type AuthMode, type AuthSpec, authModes } from "../../auth-spec.ts";
import { type CompileContext, providerScope, type TemplateScope } from "../compile-context.ts";
import { formats } from "../limits.ts";
import { authMembers } from "../manifest-schema.ts";
import { parseFields } from "../parse-fields.ts";
import { parseText, suggest } from "../parse-template.ts";
import { parseAccount, parseApply } from "./auth-parts.ts";
import { parseOAuth2 } from "./parse-oauth2.ts";
import { parseClientCredentials, parseJwt, parseSignedJwt, parseTwoStep } from "./parse-token-modes.ts";

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
    const reader = ObjectReader.open(value[mode], `auth.${mode}`, violations, {
      known: authMembers[mode],
      example: mode === "none" ? "{}" : '{"fields": {"api_key": {"title": "API key"}}}',
      what: `the mode ${mode}`,
    });
    const spec = reader && (yield* parseMode(mode, reader, context));
    if (spec !== undefined) specs.push(spec);
  }
  return specs;
}

function* parseMode(
  mode: AuthMode,
  reader: ObjectReader,
  context: CompileContext,
): Generator<void, AuthSpec | undefined> {
  const { violations } = context;
  const fields = yield* parseFields(reader.get("fields") ?? defaultFields[mode], reader.pathOf("fields"), violations, {
    secret: true,
  });
  const config = yield* parseFields(reader.get("config"), reader.pathOf("config"), violations, { secret: true });
  const scope: TemplateScope = {
    ...providerScope(context),
    credentials: new Set([...fields.map(({ name }) => name), ...(obtained[mode] ?? [])]),
    config: mode === "oauth2" ? new Set([...configNames, ...config.map(({ name }) => name)]) : undefined,
  };
  const account = parseAccount(reader, context);
  switch (mode) {
    case "none":
      return { mode, fields };
    case "api_key": {
      if (!reader.has("fields"))
        reader.refuse("fields", "required", 'is required, for example {"api_key": {"title": "API key"}}');
      const apply = parseApply(reader, scope, context, undefined);
      return apply && { mode, fields, account, apply };
    }
    case "basic": {
      const username = parseText(
        reader.get("username") ?? "{credentials.username}",
        reader.pathOf("username"),
        scope,
        violations,
      );
      const password = parseText(
        reader.get("password") ?? "{credentials.password}",
        reader.pathOf("password"),
        scope,
        violations,
      );
      return username && password && { mode, fields, username, password, account };
    }
    case "aws_sigv4": {
      const service = reader.text("service", formats.service);
      const region = parseText(
        reader.required("region", '"{settings.region}"'),
        reader.pathOf("region"),
        scope,
        violations,
      );
      for (const name of ["access_key_id", "secret_access_key"]) {
        if (!fields.some((each) => each.name === name)) reader.refuse("fields", "required", `must have ${name}`);
      }
      return service === undefined || region === undefined ? undefined : { mode, fields, service, region, account };
    }
    case "oauth2":
      return parseOAuth2(reader, scope, context, { fields, config, account });
    case "oauth2_cc":
      return parseClientCredentials(reader, scope, context, fields, account);
    case "two_step":
      return parseTwoStep(reader, scope, context, fields, account);
    case "jwt":
      return parseJwt(reader, scope, context, fields, account);
    case "signed_jwt":
      return parseSignedJwt(reader, scope, context, fields, account);
  }
}
