import { once } from "node:events";
import http from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterFile } from "../harness/after-file.ts";
import { createIdpKey, type IdpKey } from "./saml-builder.ts";

/** The part of samlify that is used; its types include those of browsers. */
interface Samlify {
  setSchemaValidator(validator: { validate(xml: string): Promise<string> }): void;
  IdentityProvider(options: object): IdpEntity;
  ServiceProvider(options: object): object;
  SamlLib: { replaceTagsByValue(template: string, values: object): string };
}

interface ParsedRequest {
  readonly extract: { readonly request?: { readonly id: string }; readonly nameID?: string };
}

interface IdpEntity {
  getMetadata(): string;
  parseLoginRequest(sp: object, binding: "redirect", request: object): Promise<ParsedRequest>;
  parseLogoutRequest(sp: object, binding: "redirect", request: object): Promise<ParsedRequest>;
  createLoginResponse(
    sp: object,
    request: object,
    binding: "post",
    user: object,
    fill: (template: string) => { id: string; context: string },
  ): Promise<{ readonly context: string; readonly entityEndpoint: string }>;
  createLogoutResponse(
    sp: object,
    request: object,
    binding: "redirect",
    relayState: string,
  ): { readonly context: string };
}

const samlify = createRequire(import.meta.url)("samlify") as Samlify;

/** An identity provider, built with samlify: a sign-in page, and signed messages in both directions. */
export interface SamlIdp {
  readonly entityId: string;
  readonly ssoUrl: string;
  readonly sloUrl: string;
  readonly certificate: string;
  readonly key: IdpKey;
  /** People who are signed in at the identity provider. */
  readonly signedIn: Set<string>;
  /** Registers the service by its metadata. */
  register(metadata: string): void;
}

const template = `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{ID}" Version="2.0" IssueInstant="{IssueInstant}" Destination="{Destination}" InResponseTo="{InResponseTo}"><saml:Issuer>{Issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="{StatusCode}"/></samlp:Status><saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{AssertionID}" Version="2.0" IssueInstant="{IssueInstant}"><saml:Issuer>{Issuer}</saml:Issuer><saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">{NameID}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="{NotOnOrAfter}" Recipient="{Recipient}" InResponseTo="{InResponseTo}"/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="{NotBefore}" NotOnOrAfter="{NotOnOrAfter}"><saml:AudienceRestriction><saml:Audience>{Audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="{IssueInstant}" SessionIndex="{AssertionID}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement><saml:Attribute Name="displayName"><saml:AttributeValue>{Name}</saml:AttributeValue></saml:Attribute></saml:AttributeStatement></saml:Assertion></samlp:Response>`;

/** Starts an identity provider on a free port, on another site than the service. */
export async function startSamlIdp(): Promise<SamlIdp> {
  const key = await createIdpKey();
  // The schema was checked by the service's own tests; samlify asks for a validator.
  samlify.setSchemaValidator({ validate: async () => "skipped" });
  let sp: object;
  let spEntity = { entityId: "", acs: "" };
  const server = http.createServer((request, response) => {
    serve(request, response).catch((error: Error) => response.writeHead(500).end(error.message));
  });
  await once(server.listen(0), "listening");
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  afterFile(() => {
    server.close();
    server.closeAllConnections();
  });
  const entityId = `${url}/metadata`;
  const idp = samlify.IdentityProvider({
    entityID: entityId,
    privateKey: key.privateKey,
    signingCert: key.certificate.replace(/-----[^-]+-----|\s/g, ""),
    wantAuthnRequestsSigned: true,
    requestSignatureAlgorithm: "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
    isAssertionEncrypted: false,
    wantLogoutRequestSigned: true,
    singleSignOnService: [{ Binding: "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect", Location: `${url}/sso` }],
    singleLogoutService: [{ Binding: "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect", Location: `${url}/slo` }],
    loginResponseTemplate: { context: template, attributes: [] },
  });
  const signedIn = new Set<string>();

  async function serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const target = new URL(request.url!, url);
    const octetString = ["SAMLRequest", "RelayState", "SigAlg"]
      .flatMap((name) => {
        const raw = new RegExp(`[?&](${name}=[^&]*)`).exec(request.url!)?.[1];
        return raw === undefined ? [] : [raw];
      })
      .join("&");
    const query = Object.fromEntries(target.searchParams);
    if (target.pathname === "/sso" && request.method === "GET") {
      await idp.parseLoginRequest(sp, "redirect", { query, octetString });
      response.writeHead(200, { "content-type": "text/html" });
      return void response.end(`<!doctype html><title>IdP</title><h1>Identity provider</h1>
<form method="post"><label>Email <input name="email"></label><button>Sign in here</button></form>`);
    }
    if (target.pathname === "/sso") {
      const parsed = await idp.parseLoginRequest(sp, "redirect", { query, octetString });
      const email = new URLSearchParams(await text(request)).get("email")!;
      signedIn.add(email);
      const message = await idp.createLoginResponse(sp, parsed, "post", { email }, (shape) => {
        const at = (ms: number) => new Date(Date.now() + ms).toISOString();
        const id = `_${crypto.randomUUID()}`;
        const values = {
          ...{ ID: id, AssertionID: `_${crypto.randomUUID()}`, Destination: spEntity.acs, Recipient: spEntity.acs },
          ...{ Audience: spEntity.entityId, Issuer: entityId, IssueInstant: at(0), NotBefore: at(-5000) },
          ...{
            NotOnOrAfter: at(300_000),
            NameID: email,
            Name: "Ada Lovelace",
            InResponseTo: parsed.extract.request!.id,
          },
          StatusCode: "urn:oasis:names:tc:SAML:2.0:status:Success",
        };
        return { id, context: samlify.SamlLib.replaceTagsByValue(shape, values) };
      });
      response.writeHead(200, { "content-type": "text/html" });
      return void response.end(`<!doctype html><title>IdP</title><form method="post" action="${message.entityEndpoint}">
<input type="hidden" name="SAMLResponse" value="${message.context}"></form><script>document.forms[0].submit()</script>`);
    }
    if (target.pathname === "/slo") {
      const parsed = await idp.parseLogoutRequest(sp, "redirect", { query, octetString });
      signedIn.delete(parsed.extract.nameID!);
      const { context } = idp.createLogoutResponse(sp, parsed, "redirect", "");
      return void response.writeHead(302, { location: context }).end();
    }
    response.writeHead(404).end();
  }

  return {
    ...{ entityId, ssoUrl: `${url}/sso`, sloUrl: `${url}/slo`, certificate: key.certificate, key, signedIn },
    register(metadata) {
      sp = samlify.ServiceProvider({ metadata });
      spEntity = {
        entityId: /entityID="([^"]+)"/.exec(metadata)![1]!,
        acs: /AssertionConsumerService [^>]*Location="([^"]+)"/.exec(metadata)![1]!,
      };
    },
  };
}
