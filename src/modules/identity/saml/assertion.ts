import type { XmlElement } from "./libraries.ts";
import { require } from "./saml-refusal.ts";
import { assertionNs, attributeOf, childrenOf, onlyChild, textOf } from "./xml-document.ts";

/** The expected subject of an assertion. */
export interface Expected {
  readonly idpEntityId: string;
  /** The entity id of this service. */
  readonly audience: string;
  /** The ACS URL. */
  readonly recipient: string;
  /** The request that is answered; undefined if the identity provider started the sign-in. */
  readonly inResponseTo: string | undefined;
  readonly nowMs: number;
  readonly skewMs: number;
}

/** The content of an assertion, after all checks. */
export interface AssertionContent {
  readonly id: string;
  readonly nameId: string;
  readonly nameIdFormat: string;
  readonly sessionIndex: string;
  /** The values of attributes, by name. */
  readonly attributes: ReadonlyMap<string, readonly string[]>;
  /** When it must not be accepted any more. */
  readonly expiresAtMs: number;
  /** When the session must end. */
  readonly sessionEndsAtMs: number | undefined;
}

const bearer = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
const attributeValuesMax = 1000;
/** The longest time that an assertion may be valid, so that replays need not be remembered longer. */
const validMsMax = 24 * 3600_000;

/** Reads an assertion whose signature is verified. Refuses it if anything about it is not as expected. */
export function readAssertion(assertion: XmlElement, expected: Expected): AssertionContent {
  require(assertion.localName === "Assertion" && assertion.namespaceURI === assertionNs, "there is no assertion");
  require(attributeOf(assertion, "Version") === "2.0", "the assertion has another version");
  const id = attributeOf(assertion, "ID") ?? "";
  require(id !== "" && id.length <= 256, "the assertion has no id");
  require(textOf(onlyChild(assertion, assertionNs, "Issuer")) ===
    expected.idpEntityId, "the assertion has another issuer");
  const subject = onlyChild(assertion, assertionNs, "Subject");
  const nameId = onlyChild(subject, assertionNs, "NameID");
  const confirmedMs = confirm(subject, expected);
  const conditionsMs = checkConditions(onlyChild(assertion, assertionNs, "Conditions"), expected);
  const [statement] = childrenOf(assertion, assertionNs, "AuthnStatement");
  require(statement !== undefined, "the assertion does not say that somebody signed in");
  const sessionEnd = attributeOf(statement, "SessionNotOnOrAfter");
  const sessionEndsAtMs = sessionEnd === undefined ? undefined : timeOf(sessionEnd);
  require(sessionEndsAtMs === undefined || sessionEndsAtMs > expected.nowMs - expected.skewMs, "the session has ended");
  require(textOf(nameId) !== "", "the name id is empty");
  return {
    ...{ id, nameId: textOf(nameId), nameIdFormat: attributeOf(nameId, "Format") ?? "" },
    sessionIndex: attributeOf(statement, "SessionIndex") ?? "",
    attributes: attributesIn(assertion),
    expiresAtMs: Math.max(confirmedMs, conditionsMs) + expected.skewMs,
    sessionEndsAtMs,
  };
}

/** Finds the confirmation that this service may accept; returns its end. */
function confirm(subject: XmlElement, expected: Expected): number {
  const ends = childrenOf(subject, assertionNs, "SubjectConfirmation").flatMap((confirmation) => {
    if (attributeOf(confirmation, "Method") !== bearer) return [];
    const [data] = childrenOf(confirmation, assertionNs, "SubjectConfirmationData");
    if (data === undefined || attributeOf(data, "NotBefore") !== undefined) return [];
    if (attributeOf(data, "Recipient") !== expected.recipient) return [];
    if (attributeOf(data, "InResponseTo") !== expected.inResponseTo) return [];
    const end = attributeOf(data, "NotOnOrAfter");
    const endMs = end === undefined ? Number.NaN : timeOf(end);
    return isOpen(endMs, expected) ? [endMs] : [];
  });
  require(ends.length > 0, "no confirmation is for this service, this request and now");
  return Math.max(...ends);
}

function checkConditions(conditions: XmlElement, expected: Expected): number {
  const { nowMs, skewMs } = expected;
  const start = attributeOf(conditions, "NotBefore");
  require(start === undefined || timeOf(start) <= nowMs + skewMs, "the assertion is not valid yet");
  const end = attributeOf(conditions, "NotOnOrAfter");
  const endMs = end === undefined ? nowMs : timeOf(end);
  require(end === undefined || isOpen(endMs, expected), "the assertion has expired");
  const restrictions = childrenOf(conditions, assertionNs, "AudienceRestriction");
  require(restrictions.length > 0, "the assertion is for nobody in particular");
  for (const restriction of restrictions) {
    const audiences = childrenOf(restriction, assertionNs, "Audience").map(textOf);
    require(audiences.includes(expected.audience), "the assertion is for another service");
  }
  return endMs;
}

function isOpen(endMs: number, { nowMs, skewMs }: Expected): boolean {
  return endMs > nowMs - skewMs && endMs <= nowMs + validMsMax;
}

function attributesIn(assertion: XmlElement): ReadonlyMap<string, readonly string[]> {
  const attributes = new Map<string, string[]>();
  let count = 0;
  for (const statement of childrenOf(assertion, assertionNs, "AttributeStatement")) {
    for (const attribute of childrenOf(statement, assertionNs, "Attribute")) {
      const values = childrenOf(attribute, assertionNs, "AttributeValue").flatMap((value) =>
        childrenOf(value).length === 0 ? [textOf(value)] : [],
      );
      count += values.length;
      require(count <= attributeValuesMax, "the assertion has too many attributes");
      const name = attributeOf(attribute, "Name") ?? "";
      attributes.set(name, [...(attributes.get(name) ?? []), ...values]);
    }
  }
  return attributes;
}

/** A time of SAML, which is always in UTC. */
function timeOf(text: string): number {
  require(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(text), `not a time: ${text}`);
  const ms = Date.parse(text);
  require(!Number.isNaN(ms), `not a time: ${text}`);
  return ms;
}
