import { invalid } from "../../../errors/index.ts";
import { containsCredential, containsPersonalData } from "../../../platform/audit/index.ts";

/** Throws INVALID_ARGUMENT if a name would put a credential or personal data into signed statements and exports. */
export function requireIdentifier(field: string, text: string): void {
  if (containsCredential(text)) throw invalid(field, "credential", "must not contain a credential; it is exported");
  // A version such as 1.2.3.4 looks like an address.
  if (!field.endsWith("version") && containsPersonalData(text)) {
    throw invalid(field, "personal_data", "must not contain an address or a phone number; it is exported");
  }
}
