import { invalid } from "../../../errors/index.ts";
import { containsCredential, containsPersonalData } from "../../../platform/audit/index.ts";

/** Throws INVALID_ARGUMENT if a name would put a credential or personal data into signed statements and exports. */
export function requireIdentifier(field: string, text: string): void {
  if (containsCredential(text)) throw invalid(field, "credential", "must not contain a credential; it is exported");
  if (containsCardNumber(text)) throw invalid(field, "card_number", "must not contain a card number; it is exported");
  // A version such as 1.2.3.4 looks like an address.
  if (!field.endsWith("version") && containsPersonalData(text)) {
    throw invalid(field, "personal_data", "must not contain an address or a phone number; it is exported");
  }
}

/** 13 to 19 digits, together or in groups. The first digit is that of a card issuer. */
const cardPattern = /(?<!\d)[2-6](?:[ ._-]?\d){12,18}(?!\d)/g;

function containsCardNumber(text: string): boolean {
  return (text.match(cardPattern) ?? []).some((found) => hasLuhnChecksum(found.replace(/\D/g, "")));
}

/** The checksum keeps most other numbers, such as times and ids, from being taken for cards. */
function hasLuhnChecksum(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const doubled = Number(digit) * (at % 2 === 0 ? 1 : 2);
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}
