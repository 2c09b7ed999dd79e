export type { User } from "./access/users.ts";
export { ApiServer, type ApiServerOptions, controlPlane, type Faults, startApiServer } from "./api-server.ts";
export type { Behaviour, World } from "./behaviours/behaviour.ts";
export { definitions } from "./behaviours/definitions.ts";
export { garbageCollection } from "./behaviours/garbage-collection.ts";
export { namespaceDeletion } from "./behaviours/namespace-deletion.ts";
export { type Fault, FaultPlan, type FaultRule } from "./fault-plan.ts";
