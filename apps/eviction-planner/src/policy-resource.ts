import { REBALANCE_POLICY, type RebalancePolicyStatus } from "@evenkeel/api";
import type { StoredObject } from "@evenkeel/kube";
import { resourceTypeOf } from "@evenkeel/operator";

/** A RebalancePolicy as the API server stores it. */
export type StoredPolicy = StoredObject<RebalancePolicyStatus>;

export const rebalancePolicies = resourceTypeOf<StoredPolicy>(REBALANCE_POLICY);
