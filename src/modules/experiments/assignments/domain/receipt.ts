/** Proof of the first exposure of a unit. */
export interface Receipt {
  readonly tenantId: string;
  readonly environmentId: string;
  readonly experimentId: string;
  readonly phase: number;
  /** In hexadecimal. */
  readonly unitHash: string;
  readonly variant: string;
  readonly bucket: number;
  readonly firstExposedAtMs: number;
}

/** The version of the format of receipts. */
export const receiptVersion = 1;

const separator = "|";
const fieldCount = 9;

/** The text that is signed. No field can contain the separator. */
export function receiptText(receipt: Receipt): string {
  const { tenantId, environmentId, experimentId, phase, unitHash, variant, bucket, firstExposedAtMs } = receipt;
  return [
    ...[receiptVersion, tenantId, environmentId, experimentId, phase],
    ...[unitHash, variant, bucket, firstExposedAtMs],
  ].join(separator);
}

/** Reads the text of a receipt. */
export function parseReceiptText(text: string): Receipt | "malformed" | "unsupported_version" {
  const fields = text.split(separator);
  if (fields[0] !== String(receiptVersion) && /^\d+$/.test(fields[0]!)) return "unsupported_version";
  if (fields.length !== fieldCount) return "malformed";
  const [, tenantId, environmentId, experimentId, phase, unitHash, variant, bucket, firstExposedAtMs] =
    fields as string[];
  const receipt = {
    ...{ tenantId: tenantId!, environmentId: environmentId!, experimentId: experimentId! },
    ...{ phase: Number(phase), unitHash: unitHash!, variant: variant! },
    ...{ bucket: Number(bucket), firstExposedAtMs: Number(firstExposedAtMs) },
  };
  // Only the canonical form is a receipt.
  return receiptText(receipt) === text ? receipt : "malformed";
}
