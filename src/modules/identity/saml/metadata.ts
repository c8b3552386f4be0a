import { html } from "../../../platform/html/index.ts";

interface MetadataParts {
  readonly entityId: string;
  readonly acsUrl: string;
  readonly sloUrl: string;
  /** PEM. */
  readonly certificate: string;
}

/** The metadata of this service for one connection. */
export function metadataOf({ entityId, acsUrl, sloUrl, certificate }: MetadataParts): string {
  const key = certificate.replace(/-----[^-]+-----|\s/g, "");
  const descriptor = (use: string) =>
    html`<md:KeyDescriptor use="${use}"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${key}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>${
      use === "encryption" &&
      html`<md:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#aes256-gcm"/><md:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"/>`
    }</md:KeyDescriptor>`;
  return html`<?xml version="1.0" encoding="UTF-8"?>
<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}">
<md:SPSSODescriptor AuthnRequestsSigned="true" WantAssertionsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
${descriptor("signing")}
${descriptor("encryption")}
<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${sloUrl}"/>
<md:NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified</md:NameIDFormat>
<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${acsUrl}" index="0" isDefault="true"/>
</md:SPSSODescriptor>
</md:EntityDescriptor>
`.text;
}
