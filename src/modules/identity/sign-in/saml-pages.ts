import { timingSafeEqual } from "node:crypto";
import { newTenantSecret, tenantOfSecret } from "../../../platform/crypto/index.ts";
import type { Database } from "../../../platform/db/index.ts";
import { html } from "../../../platform/html/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { PlatformServices } from "../../area.ts";
import { inTenant } from "../../tenant-work.ts";
import { attemptStore, connectionStore, type SamlConnection, type SignInAttempt } from "../connections/index.ts";
import { type Saml, seenMessageStore, type VerifiedResponse } from "../saml/index.ts";
import {
  type BrowserSession,
  hashOf,
  isOwnForm,
  isSecret,
  newSecret,
  readCookie,
  type SessionService,
} from "../sessions/index.ts";
import type { PageRequest, PageResponse, PageTools } from "./page-request.ts";
import type { PageDocument } from "./page-shell.ts";
import { signedOutDocument } from "./page-views.ts";

export type SamlPages = ReturnType<typeof createSamlPages>;

interface Dependencies extends Pick<PlatformServices, "db" | "clock"> {
  readonly saml: Saml;
  readonly sessions: SessionService;
  readonly publicUrl: () => string;
}

/** How long a browser has to come back with its ticket. */
const ticketMs = 60_000;
const idPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** The cookie hash of a sign-in that the identity provider started: no browser has a cookie for it. */
const noCookie = Buffer.alloc(0);

export function createSamlPages({ db, clock, saml, sessions, publicUrl }: Dependencies, tools: PageTools) {
  const { respond, refuse, redirect, signIn } = tools;

  async function findConnection(id: string): Promise<SamlConnection | undefined> {
    const found = idPattern.test(id) ? await connectionStore(db.sql).findForSignIn(id) : undefined;
    return found?.kind === "saml" ? found : undefined;
  }

  /**
   * Accepts a response of the identity provider. The browser sends it without cookies, because it comes from another site.
   * So the person is stored under a ticket, and the browser comes back with the ticket and its cookie.
   */
  async function acceptResponse(connection: SamlConnection, { form }: PageRequest): Promise<PageResponse> {
    let verified: VerifiedResponse;
    try {
      verified = await saml.receive(connection, form.get("SAMLResponse") ?? "");
    } catch (error) {
      return refuse("provider_refused", error);
    }
    const { person, inResponseTo, assertionId, expiresAt } = verified;
    const { tenantId, id: connectionId } = connection;
    if (inResponseTo === undefined && !connection.settings.allowIdpInitiated) return refuse("provider_refused");
    const ticket = newTenantSecret(tenantId);
    const isAccepted = await inTenant({ db, clock }, tenantId, async ({ sql, nowMs }) => {
      const now = new Date(nowMs);
      const store = attemptStore(sql);
      const attempt =
        inResponseTo === undefined
          ? await startedByProvider(sql, tenantId, connectionId, nowMs)
          : await store.findByState(connection, hashOf(inResponseTo), now);
      if (attempt === undefined) return false;
      if (!(await seenMessageStore(sql).add(tenantId, connectionId, assertionId, expiresAt))) return false;
      return store.verify(attempt, person, hashOf(ticket), new Date(nowMs + ticketMs));
    });
    if (!isAccepted) return refuse("invalid_state");
    return redirect(`/auth/saml/finish?ticket=${ticket}`);
  }

  async function startedByProvider(
    sql: Database["sql"],
    tenantId: SamlConnection["tenantId"],
    connectionId: string,
    nowMs: number,
  ): Promise<Pick<SignInAttempt, "tenantId" | "id">> {
    const attempt = { tenantId, id: ulid(nowMs), connectionId, cookieHash: noCookie, returnTo: "" };
    const expiresAt = new Date(nowMs + ticketMs);
    await attemptStore(sql).insert({ ...attempt, expiresAt }, hashOf(newSecret()), new Date(nowMs));
    return attempt;
  }

  /** Signs the browser in that started the sign-in, and no other. */
  async function finish(request: PageRequest): Promise<PageResponse> {
    const isForm = request.method === "POST";
    const ticket = (isForm ? request.form : request.query).get("ticket") ?? "";
    const store = attemptStore(db.sql);
    const now = new Date(clock.now());
    const found = isSecret(ticket) ? await store.findByTicket(tenantOfSecret(ticket), hashOf(ticket), now) : undefined;
    if (found === undefined || found.identity === null) return refuse("invalid_state");
    if (found.cookieHash.length === 0) {
      // Nobody can know whether the person wanted this sign-in, so the person is asked.
      if (!isForm) return respond(confirmationDocument(ticket, found.identity.email || found.identity.subject));
      if (!isOwnForm(request, new URL(publicUrl()).origin)) return refuse("other_site");
    } else {
      const cookie = readCookie("attempt", request.header("cookie"), new URL(publicUrl()));
      if (cookie === undefined || !timingSafeEqual(hashOf(cookie), found.cookieHash)) return refuse("other_browser");
    }
    const spent = await store.spendTicket(tenantOfSecret(ticket), hashOf(ticket), now);
    const connection = spent && (await findConnection(spent.connectionId));
    if (spent?.identity == null || connection === undefined) return refuse("invalid_state");
    return signIn(request, connection, spent.identity, spent.returnTo);
  }

  /** Ends sessions that the identity provider asks to end, or shows that the browser is signed out. */
  async function signOut(connection: SamlConnection, request: PageRequest): Promise<PageResponse> {
    if (!request.query.has("SAMLRequest")) return respond(signedOutDocument());
    try {
      const order = await saml.receiveSignOut(connection, request.rawQuery);
      const { tenantId, id } = connection;
      const isNew = await inTenant({ db, clock }, tenantId, async (context) => {
        if (!(await seenMessageStore(context.sql).add(tenantId, id, order.id, order.expiresAt))) return false;
        await sessions.endOfConnection(context, id, order.providerData, "provider_signed_out");
        return true;
      });
      if (!isNew) return refuse("invalid_state");
      if (connection.settings.sloUrl === "") return respond(signedOutDocument());
      return redirect(await saml.confirmSignOut(connection, order.id, request.query.get("RelayState") ?? ""));
    } catch (error) {
      return refuse("provider_refused", error);
    }
  }

  return {
    /** The address at the identity provider where the browser signs in. */
    start: saml.start,

    /** The address at the identity provider where the browser of an ended session signs out; undefined if there is none. */
    async signOutUrl({ connectionId, providerData }: BrowserSession): Promise<string | undefined> {
      const connection = await findConnection(connectionId);
      return connection && saml.signOut(connection, providerData);
    },

    /** Serves `/auth/saml/{connection}/{page}` and `/auth/saml/finish`. */
    async handle(request: PageRequest, connectionId: string, page: string): Promise<PageResponse | undefined> {
      if (connectionId === "finish" && page === "") return finish(request);
      const connection = await findConnection(connectionId);
      if (connection === undefined) return refuse("unknown_connection");
      switch (`${request.method} ${page}`) {
        case "GET metadata": {
          const headers = {
            "content-type": "application/samlmetadata+xml; charset=utf-8",
            "cache-control": "no-cache",
          };
          return { status: 200, headers, body: saml.metadata(connection), isRefused: false };
        }
        case "POST acs":
          return acceptResponse(connection, request);
        case "GET slo":
          return signOut(connection, request);
        default:
          return undefined;
      }
    },
  };
}

function confirmationDocument(ticket: string, name: string): PageDocument {
  const main = html`<h1>Sign in</h1><p>Sign in as <strong>${name}</strong>? Continue only if you asked for it.</p>
<form method="post" action="/auth/saml/finish"><input type="hidden" name="ticket" value="${ticket}"><button>Sign in</button></form>`;
  return { title: "Sign in", main };
}
