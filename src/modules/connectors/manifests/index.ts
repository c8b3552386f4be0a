/**
 * Manifests: providers as data, executed by one engine.
 *
 * Manifest: the description of one provider: hosts, authentication, actions and triggers.
 * Provider: a compiled manifest.
 * Action: an operation of a provider. Trigger: something that happens there.
 * Catalogue: the providers that a tenant can use: built-in, its own, and those of installed packs.
 * Template: a text or JSON value with placeholders such as `{input.title}`, which are encoded for their position.
 * Answer class: what an answer of a provider means, the same for all providers.
 */

import { createTextReader } from "../../../platform/document-text/index.ts";
import type { PlatformServices } from "../../area.ts";
import { type BuiltinProviders, createBuiltinProviders } from "./catalogue/builtin-catalogue.ts";
import { createCatalogue } from "./catalogue/catalogue.ts";
import { catalogueHandlers, type ReadConfigStates } from "./catalogue/catalogue-handler.ts";
import { manifestHandlers } from "./manifest-handler.ts";
import { createManifestRecords } from "./manifest-records.ts";
import { createManifestService, type ManifestParts } from "./manifest-service.ts";

export type { Catalogue } from "./catalogue/catalogue.ts";
export { checkInput } from "./domain/check-input.ts";
export { valueAt, valuesAt } from "./domain/json-pointer.ts";
export type { Action } from "./domain/language/action.ts";
export type { TokenEndpoint, TokenExpiry } from "./domain/language/auth/auth-members.ts";
export type {
  AuthMode,
  AuthSpec,
  JwtAuth,
  NoAuth,
  OAuth2Auth,
  OAuth2ClientAuth,
  TwoStepAuth,
} from "./domain/language/auth/modes.ts";
export { compileManifest } from "./domain/language/compile-manifest.ts";
export type { FieldSpec } from "./domain/language/fields.ts";
export type { CallbackSpec, MessageEventKind } from "./domain/language/messages/callbacks.ts";
export type {
  FailureRule,
  MessageChannel,
  MessageFailure,
  MessageSpec,
  SendSpec,
} from "./domain/language/messages/messages.ts";
export type { PollSpec, RegistrationSpec, Trigger } from "./domain/language/trigger.ts";
export type { SignatureTimestamp, SignedPart, VerifySpec } from "./domain/language/verify.ts";
export type { AccountValues, Provider } from "./domain/provider.ts";
export { createRedactor, type Redactor, secretsOf } from "./domain/redaction/redactor.ts";
export { encodeMimeWords } from "./domain/request/encoding.ts";
export { renderEndpoint, renderParameter } from "./domain/request/render-endpoint.ts";
export { renderRequest } from "./domain/request/render-request.ts";
export { RenderError, renderText, renderValue } from "./domain/request/values.ts";
export type { HttpRequest, RenderFailure, RequestSpec } from "./domain/request-spec.ts";
export { readOutput } from "./domain/response/output.ts";
export { type HttpAnswer, readResponse } from "./domain/response/read-response.ts";
export type { ActionAnswer, AnswerClass, PageState, PaginationSpec } from "./domain/response-spec.ts";
export { placeholdersIn, type TextTemplate, type ValueTemplate } from "./domain/template.ts";
export { createGuardedHttp, type GuardedHttp, type SendLimits } from "./guarded-http.ts";

interface Dependencies
  extends Pick<PlatformServices, "cacheLoadDb" | "log">,
    Omit<ManifestParts, "texts" | "catalogue"> {
  readonly configStates: ReadConfigStates;
  /** The providers that every tenant has; by default those of `connectors/providers`. */
  readonly builtin?: BuiltinProviders;
}

export function createManifests({
  cacheLoadDb,
  log,
  configStates,
  builtin = createBuiltinProviders(),
  ...parts
}: Dependencies) {
  const catalogue = createCatalogue({ cacheLoadDb, changes: parts.changes, shares: parts.shares, log, builtin });
  const service = createManifestService({ ...parts, catalogue, texts: createTextReader() });
  return {
    handlers: { catalogue: catalogueHandlers(catalogue, configStates), manifests: manifestHandlers(service) },
    catalogue,
    /** The manifests as records of packs. */
    packRecords: createManifestRecords({ ...parts, service }),
  };
}
