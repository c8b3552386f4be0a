import type { Sql } from "../../../../platform/db/index.ts";
import type { AuthMode, AuthSpec, FieldSpec, OAuth2Auth } from "../../manifests/index.ts";
import type { OpenSession } from "../domain/connect-session.ts";
import { hasEnded, statusAt } from "../domain/session-status.ts";
import { withQuery } from "../domain/web-address.ts";
import type { FindOffer, ProviderOffer } from "../provider-offers.ts";
import { connectSessionStore } from "../store.ts";
import { requestedScopes } from "./authorization-request.ts";
import type { EndView, FormField, FormView, PageFrame, PageView, ProviderItem } from "./page-view.ts";

/** The end user's choices so far. */
export interface Choice {
  readonly providerKey: string | undefined;
  readonly mode: string | undefined;
}

/** A submission that is shown again with its problems. */
export interface Resubmission {
  /** Values of fields that are not secret, by the name of the input. */
  readonly values: ReadonlyMap<string, string>;
  /** Problems by the name of the input. */
  readonly problems: ReadonlyMap<string, string>;
  readonly problem: string;
}

interface Dependencies {
  readonly sql: Sql;
  readonly findOffer: FindOffer;
}

/** Builds the views of opened sessions. */
export type ViewBuilder = ReturnType<typeof createViewBuilder>;

export function createViewBuilder({ sql, findOffer }: Dependencies) {
  /** Builds the common frame. */
  async function frameOf(session: OpenSession): Promise<PageFrame> {
    const application = await connectSessionStore(sql).findTenantName(session.tenantId);
    const { id, email, displayName } = session.endUser;
    const { id: sessionId, allowedOrigins, connectionId } = session;
    const endUser = displayName || email || id;
    return { sessionId, application, endUser, allowedOrigins, isReconnection: connectionId !== "" };
  }

  /** The offers of a session that can be used now. */
  async function offersOf(session: OpenSession): Promise<ProviderOffer[]> {
    const offers = await Promise.all(session.allowedProviderKeys.map((key) => findOffer(sql, session, key)));
    return offers.filter((offer) => offer !== undefined && offer.modes.length > 0) as ProviderOffer[];
  }

  /** The offer for a choice; undefined if the session does not offer it. */
  async function offerFor(session: OpenSession, { providerKey, mode }: Choice) {
    if (providerKey === undefined || !session.allowedProviderKeys.includes(providerKey)) return undefined;
    const offer = await findOffer(sql, session, providerKey);
    const chosen = mode === undefined ? offer?.modes[0] : offer?.modes.find((each) => each === mode);
    if (offer === undefined || chosen === undefined) return undefined;
    return { ...offer, mode: chosen, auth: offer.provider.auth(chosen)! };
  }

  async function viewOf(session: OpenSession, nowMs: number, choice: Choice, again?: Resubmission): Promise<PageView> {
    const frame = await frameOf(session);
    const status = statusAt(session, nowMs);
    if (hasEnded(status)) return endView(session, frame, status);
    if (session.awaitingCompletion) return { kind: "waiting", frame };
    const only = session.allowedProviderKeys.length === 1 ? session.allowedProviderKeys[0] : undefined;
    const offer = await offerFor(session, { ...choice, providerKey: choice.providerKey ?? only });
    if (offer !== undefined) return formView(session, frame, offer, again);
    const offers = await offersOf(session);
    return { kind: "choice", frame, providers: offers.map(({ provider }) => itemOf(provider)) };
  }

  return { frameOf, offerFor, viewOf };
}

function endView(session: OpenSession, frame: PageFrame, status: EndView["status"]): EndView {
  const { errorCode, successRedirectUri, errorRedirectUri } = session;
  const uri = status === "completed" ? successRedirectUri : errorRedirectUri;
  const error: Record<string, string> = status === "completed" ? {} : { error: errorCode || status };
  const redirectUri = uri === "" ? "" : withQuery(uri, { session_id: session.id, status, ...error });
  return { kind: "end", frame, status, errorCode, redirectUri };
}

function formView(
  session: OpenSession,
  frame: PageFrame,
  { provider, config, modes, mode, auth }: ProviderOffer & { readonly mode: AuthMode; readonly auth: AuthSpec },
  again: Resubmission | undefined,
): FormView {
  const fieldOf = (group: string) => (field: FieldSpec) => formField(`${group}.${field.name}`, field, again);
  return {
    ...{ kind: "form", frame, provider: itemOf(provider), mode, modes },
    canChoose: session.allowedProviderKeys.length > 1,
    fields: [...provider.settings.map(fieldOf("settings")), ...auth.fields.map(fieldOf("credentials"))],
    permissions: auth.mode === "oauth2" ? permissionsOf(auth, session.scopes, config?.scopes ?? []) : [],
    problem: again?.problem ?? "",
  };
}

function permissionsOf(auth: OAuth2Auth, ofSession: readonly string[], ofConfig: readonly string[]) {
  return requestedScopes(auth, ofSession, ofConfig).map((each) => auth.scopes.available.get(each) || each);
}

function formField(name: string, field: FieldSpec, again: Resubmission | undefined): FormField {
  const { title, description, secret, required, multiline, pattern, choices, example } = field;
  return {
    ...{ name, title, description, pattern, choices, example },
    isSecret: secret,
    isRequired: required,
    isMultiline: multiline,
    value: (secret ? undefined : again?.values.get(name)) ?? field.default ?? "",
    problem: again?.problems.get(name) ?? "",
  };
}

function itemOf({ key, name, description }: ProviderItem): ProviderItem {
  return { key, name, description };
}
