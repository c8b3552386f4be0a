import type { DescMethod, DescService, MessageShape } from "@bufbuild/protobuf";
import type { Plain } from "../platform/records/index.ts";
import type { Context, OwnCommitHandler, PreparedHandler } from "./call.ts";

type HandlerOf<M extends DescMethod> = M["methodKind"] extends "server_streaming"
  ? (context: Context, request: MessageShape<M["input"]>) => Promise<AsyncIterable<MessageShape<M["output"]>>>
  :
      | ((context: Context, request: MessageShape<M["input"]>) => Promise<Plain<MessageShape<M["output"]>>>)
      | OwnCommitHandler
      | PreparedHandler<Plain<MessageShape<M["output"]>>>;

/** One handler for every method of a service. A missing handler is a type error. */
export type Handlers<S extends DescService> = { readonly [K in keyof S["method"]]: HandlerOf<S["method"][K]> };
