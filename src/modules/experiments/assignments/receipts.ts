import { createSigner } from "../../../platform/crypto/index.ts";
import { parseReceiptText, type Receipt, receiptText } from "./domain/receipt.ts";

export interface SignedReceipt extends Receipt {
  /** The receipt and its signature as one text. */
  readonly token: string;
  readonly signature: string;
}

/** Why a token is no receipt. */
export type ReceiptFailure = "malformed" | "unsupported_version" | "wrong_signature";

/** Signs and verifies receipts. */
export type Receipts = ReturnType<typeof createReceipts>;

/** Creates the receipts of this installation. */
export function createReceipts(secret: Buffer) {
  const signer = createSigner(secret);
  return {
    sign(receipt: Receipt): SignedReceipt {
      const text = receiptText(receipt);
      const signature = signer.sign(text).toString("base64url");
      return { ...receipt, signature, token: `${Buffer.from(text).toString("base64url")}.${signature}` };
    },
    open(token: string): SignedReceipt | ReceiptFailure {
      const [encoded = "", signature = "", ...rest] = token.split(".");
      const text = Buffer.from(encoded, "base64url").toString();
      if (rest.length > 0 || encoded === "" || signature === "") return "malformed";
      const receipt = parseReceiptText(text);
      if (typeof receipt === "string") return receipt;
      // Base64 has several texts for the same bytes. Only the one that was issued is valid.
      const isCanonical = Buffer.from(text).toString("base64url") === encoded;
      const bytes = Buffer.from(signature, "base64url");
      if (!isCanonical || bytes.toString("base64url") !== signature || !signer.verify(text, bytes)) {
        return "wrong_signature";
      }
      return { ...receipt, signature, token };
    },
  };
}
