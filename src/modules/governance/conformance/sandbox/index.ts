/**
 * The sandbox: a scratch tenant in which a run calls this instance, and a second one that must not notice.
 *
 * client: sends requests over the instance's own external plane. caller: who a request is sent as. context: what a case
 * works with.
 */
export {
  type CaseContext,
  type CaseSource,
  type ConformanceCase,
  type ConformanceSuite,
  createCaseContext,
  type SuiteSource,
} from "./case-context.ts";
export {
  type CallerName,
  createSandboxClient,
  type Json,
  type RequestOptions,
  type SandboxKeys,
  type SendRequest,
  UnexpectedReply,
} from "./client.ts";
