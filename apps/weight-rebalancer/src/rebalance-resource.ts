import { REBALANCE, type RebalanceStatus } from "@evenkeel/api";
import type { ResourceTypeOf, StoredObject } from "@evenkeel/kube";

export type StoredRebalance = StoredObject<RebalanceStatus>;

const { group, version, kind, plural } = REBALANCE;

/** Without `resourceTypeOf` of the frame, which would bring gRPC and Redis into the bundle of the CLI. */
export const rebalances: ResourceTypeOf<StoredRebalance> = { group, version, kind, plural, namespaced: true };

/** Keeps an object until its weight is reverted. */
export const REVERT_FINALIZER = "evenkeel.io/revert-weight";
