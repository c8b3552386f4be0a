import { createRequire } from "node:module";

/** An element of an XML document. */
export interface XmlElement extends XmlNode {
  readonly localName: string | null;
  readonly namespaceURI: string | null;
  readonly attributes: {
    readonly length: number;
    item(at: number): { readonly name: string; readonly value: string } | null;
  };
  hasAttribute(name: string): boolean;
  getAttribute(name: string): string | null;
  toString(): string;
}

/** A node of an XML document. */
export interface XmlNode {
  readonly nodeType: number;
  readonly firstChild: XmlNode | null;
  readonly nextSibling: XmlNode | null;
  readonly parentNode: XmlNode | null;
  readonly textContent: string | null;
}

/** The profile that node-saml reads from a verified assertion. */
interface Profile {
  readonly nameID?: string;
  /** The assertion as it was signed. */
  readonly getAssertionXml?: () => string;
}

/** The part of node-saml that is used. */
export interface SamlLibrary {
  getAuthorizeUrlAsync(relayState: string, host: string | undefined, options: object): Promise<string>;
  getLogoutUrlAsync(user: object, relayState: string, options: object): Promise<string>;
  getLogoutResponseUrl(
    request: { readonly ID: string },
    relayState: string,
    options: object,
    success: boolean,
    callback: (error: Error | null, url?: string) => void,
  ): void;
  validatePostResponseAsync(form: { readonly SAMLResponse: string }): Promise<{ readonly profile: Profile | null }>;
}

// The types of these packages include those of browsers, which would apply to all code of the service.
const load = createRequire(import.meta.url);

export const { SAML } = load("@node-saml/node-saml") as { readonly SAML: new (options: object) => SamlLibrary };

/** The XML parser that the SAML library uses. */
export const { DOMParser } = load("@xmldom/xmldom") as {
  readonly DOMParser: new (
    options: object,
  ) => { parseFromString(xml: string, type: string): { readonly documentElement: XmlElement | null } | undefined };
};

/** Decrypts XML. */
export const { decrypt } = load("xml-encryption") as {
  readonly decrypt: (
    xml: string,
    options: { readonly key: string },
    callback: (error: Error | null, result?: string) => void,
  ) => void;
};
