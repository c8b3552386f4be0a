import { DOMParser, type XmlElement } from "./libraries.ts";
import { require } from "./saml-refusal.ts";

export const protocolNs = "urn:oasis:names:tc:SAML:2.0:protocol";
export const assertionNs = "urn:oasis:names:tc:SAML:2.0:assertion";
export const signatureNs = "http://www.w3.org/2000/09/xmldsig#";
export const encryptionNs = "http://www.w3.org/2001/04/xmlenc#";

const bytesMax = 96 * 1024;
const depthMax = 64;
/** A response has about fifty elements, and one more for each group of the person. */
const tagsMax = 10_000;
const attributesMax = 50;

/**
 * Parses XML of an identity provider. Everything that parsers understand differently is refused first: document types,
 * entities, comments, processing instructions and other encodings. SAML needs none of them, and each was part of an attack.
 */
export function parseXml(xml: string): XmlElement {
  require(Buffer.byteLength(xml) <= bytesMax, "the message is too large");
  const body = xml.replace(
    /^\s*<\?xml version="1\.[01]"(?: encoding="utf-8")?(?: standalone="(?:yes|no)")?\s*\?>/i,
    "",
  );
  require(!/<[!?]/.test(body), "the message has a document type, a comment, a CDATA section or an instruction");
  require(/^[\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u.test(body), "the message has invalid characters");
  require(!/&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-f]{1,6});)/i.test(body), "the message has an entity");
  checkTags(body);
  const faults: string[] = [];
  const note = (text: string) => void faults.push(text);
  const parser = new DOMParser({ locator: {}, errorHandler: { warning: note, error: note, fatalError: note } });
  const document = parser.parseFromString(body, "text/xml");
  require(faults.length === 0 &&
    document?.documentElement != null, `the message is not well-formed: ${faults[0] ?? ""}`);
  requireUniqueIds(document.documentElement);
  return document.documentElement;
}

const tagPattern = /<(\/?)[^\s<>/="']+((?:\s+[^\s<>/="']+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const attributePattern = /=\s*(?:"[^"]*"|'[^']*')/g;

/**
 * Checks the number and the nesting of tags. The parser's time grows with the square of an element's attributes and of the
 * elements without an end.
 */
function checkTags(body: string): void {
  let depth = 0;
  let tags = 0;
  for (let at = body.indexOf("<"); at !== -1; at = body.indexOf("<", tagPattern.lastIndex)) {
    tagPattern.lastIndex = at;
    const tag = tagPattern.exec(body);
    require(tag !== null, "the message is not well-formed");
    const [, end, attributes, empty] = tag;
    if (end !== "") depth--;
    else if (empty === "") depth++;
    require(++tags <= tagsMax, "the message has too many tags");
    require((attributes!.match(attributePattern)?.length ?? 0) <= attributesMax, "an element has too many attributes");
    require(depth >= 0, "the message is not well-formed");
    require(depth <= depthMax, "the message is nested too deeply");
  }
  require(depth === 0, "the message is not well-formed");
}

/** Decodes base64; refuses text that is not base64. */
export function decodeBase64(text: string): Buffer {
  const compact = text.replace(/[\r\n\t ]/g, "");
  require(compact.length > 0 &&
    compact.length % 4 === 0 &&
    /^[A-Za-z0-9+/]+={0,2}$/.test(compact), "the message is not base64");
  require(compact.length <= (bytesMax * 4) / 3 + 4, "the message is too large");
  return Buffer.from(compact, "base64");
}

/** All elements of a document, in order. */
export function elementsIn(root: XmlElement): XmlElement[] {
  return [root, ...childrenOf(root).flatMap(elementsIn)];
}

/** The child elements of an element, optionally only those with a name. */
export function childrenOf(parent: XmlElement, namespace?: string, localName?: string): XmlElement[] {
  const children: XmlElement[] = [];
  for (let node = parent.firstChild; node !== null; node = node.nextSibling) {
    if (node.nodeType !== 1) continue;
    const element = node as XmlElement;
    const isWanted = localName === undefined || (element.localName === localName && element.namespaceURI === namespace);
    if (isWanted) children.push(element);
  }
  return children;
}

/** The only child with a name; refuses the message if there is none or more than one. */
export function onlyChild(parent: XmlElement, namespace: string, localName: string): XmlElement {
  const [child, ...others] = childrenOf(parent, namespace, localName);
  require(child !== undefined && others.length === 0, `${parent.localName} must have exactly one ${localName}`);
  return child;
}

/** The value of an attribute; undefined if it is absent. */
export function attributeOf(element: XmlElement, name: string): string | undefined {
  return element.hasAttribute(name) ? (element.getAttribute(name) ?? "") : undefined;
}

/** The text of an element, which must have no child elements. */
export function textOf(element: XmlElement): string {
  require(childrenOf(element).length === 0, `${element.localName} must have only text`);
  return (element.textContent ?? "").trim();
}

/** Refuses documents in which two elements have the same id, in any spelling of the attribute. */
function requireUniqueIds(root: XmlElement): void {
  const seen = new Set<string>();
  for (const element of elementsIn(root)) {
    const ids = new Set<string>();
    for (let at = 0; at < element.attributes.length; at++) {
      const { name, value } = element.attributes.item(at)!;
      if (/^(?:.*:)?id$/i.test(name)) ids.add(value);
    }
    for (const id of ids) {
      require(!seen.has(id), "two elements have the same id");
      seen.add(id);
    }
  }
}
