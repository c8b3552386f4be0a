declare module "oidc-provider" {
  import type { RequestListener } from "node:http";

  /** What of the issuer's program tests use; it brings no types of its own. */
  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
  }
}
