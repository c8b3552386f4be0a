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

export type { Catalogue, ManifestSource, PackSource } from "./catalogue.ts";
export type { Action, Effect, KeyPlace, Mutation, RuntimeStatus } from "./domain/action.ts";
export type {
  AccountProbe,
  ApiKeyAuth,
  ApplySpec,
  AuthMode,
  AuthSpec,
  AwsSigV4Auth,
  BasicAuth,
  FieldSpec,
  JwtAuth,
  NoAuth,
  OAuth2Auth,
  OAuth2ClientAuth,
  TokenEndpoint,
  TokenExpiry,
  TwoStepAuth,
} from "./domain/auth-spec.ts";
export { checkInput } from "./domain/check-input.ts";
export type { HostList } from "./domain/host-list.ts";
export { valueAt } from "./domain/json-pointer.ts";
export type { AccountValues, Category, Provider } from "./domain/provider.ts";
export { createRedactor, type Redactor, redacted, secretsOf } from "./domain/redaction/redactor.ts";
export { renderEndpoint, renderParameter } from "./domain/request/render-endpoint.ts";
export { type RequestOptions, renderRequest } from "./domain/request/render-request.ts";
export type { RequestValues } from "./domain/request/values.ts";
export type { BodySpec, HttpMethod, HttpRequest, RenderFault, RequestSpec } from "./domain/request-spec.ts";
export {
  classify,
  type HttpAnswer,
  type Readable,
  type ReadOptions,
  readResponse,
} from "./domain/response/read-response.ts";
export { readTime } from "./domain/response/time-hint.ts";
export type {
  ActionAnswer,
  AnswerClass,
  ErrorRule,
  OutputSpec,
  PageState,
  PaginationSpec,
  RateLimitHint,
} from "./domain/response-spec.ts";
export type { Placeholder, TextTemplate, ValueTemplate } from "./domain/template.ts";
export type {
  ChallengeSpec,
  PollSpec,
  RegistrationSpec,
  SignatureTimestamp,
  SignedPart,
  Trigger,
  VerifySpec,
} from "./domain/trigger.ts";
export { createGuardedHttp, type GuardedHttp, type SendLimits } from "./guarded-http.ts";
