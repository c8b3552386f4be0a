// Generated from the definitions; do not edit.
import type { DescService } from "@bufbuild/protobuf";
import { ApiKeyService } from "./service/api/api_key_pb.ts";
import { ConfigService } from "./service/api/config_pb.ts";
import { DiscoveryService } from "./service/api/discovery_pb.ts";
import { EnvironmentService } from "./service/api/environment_pb.ts";
import { EventService } from "./service/api/event_pb.ts";
import { MemberService } from "./service/api/member_pb.ts";
import { SecretService } from "./service/api/secret_pb.ts";
import { TenantService } from "./service/api/tenant_pb.ts";

/** Every service of the API. */
export const services: readonly DescService[] = [ApiKeyService, ConfigService, DiscoveryService, EnvironmentService, EventService, MemberService, SecretService, TenantService];
