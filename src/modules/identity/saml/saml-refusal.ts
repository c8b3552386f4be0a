/** Why a SAML message is refused. The text is for the log; browsers see the same page for every reason. */
export class SamlRefusal extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = "SamlRefusal";
  }
}

/** Throws a refusal unless a condition holds. */
export function require(condition: boolean, reason: string): asserts condition {
  if (!condition) throw new SamlRefusal(reason);
}
