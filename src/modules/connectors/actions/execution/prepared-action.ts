import type { TenantId } from "../../../../platform/access/index.ts";
import type { Json } from "../../../../platform/document/index.ts";
import type { OpenConnection } from "../../connections/index.ts";
import {
  type AccountValues,
  type Action,
  type HttpRequest,
  type PageState,
  type Provider,
  type RenderFailure,
  renderRequest,
} from "../../manifests/index.ts";
import type { RequestSummary } from "../domain/execution.ts";

/** An action with everything that its request needs. It contains credentials: never log or store it. */
export interface PreparedAction {
  readonly tenantId: TenantId;
  readonly provider: Provider;
  readonly action: Action;
  readonly input: Json;
  /** Undefined for providers without authentication. */
  readonly connection: OpenConnection | undefined;
  readonly idempotencyKey: string;
  /** Where a raw request goes; undefined for actions of the manifest. */
  readonly start?: PageState | undefined;
}

/** The values of a provider without a connection. */
const noAccount: AccountValues = {
  mode: "none",
  settings: {},
  captured: {},
  account: { id: "", label: "" },
  credentials: {},
  config: {},
};

/** The values that the requests of an action are rendered with. */
export function accountOf({ connection }: Pick<PreparedAction, "connection">): AccountValues {
  return connection ?? noAccount;
}

/** Renders the request of a page. */
export function renderPage(
  prepared: PreparedAction,
  page: PageState | undefined,
  nowMs: number,
): HttpRequest | RenderFailure {
  const { provider, action, input, idempotencyKey, start } = prepared;
  const { mutation, paginate } = action;
  const values = { input, account: accountOf(prepared), idempotencyKey, nowMs };
  return renderRequest(provider, action.request!, values, { mutation, paginate, page: page ?? start });
}

/** Describes a request without its values. */
export function summaryOf({ action }: Pick<PreparedAction, "action">, { method, url }: HttpRequest): RequestSummary {
  const { path, url: absolute } = action.request!;
  return { method, host: new URL(url).hostname, path: path?.source ?? absolute?.source ?? "" };
}
