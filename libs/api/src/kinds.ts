import { KIND as CLUSTER_SCORE } from "./cluster-score.ts";
import { KIND as COLLECTOR_LOAD_BALANCER } from "./collector-load-balancer.ts";
import { KIND as ELASTI_SERVICE } from "./elasti-service.ts";
import type { Kind } from "./kind.ts";
import { KIND as NODE_CLASS } from "./node-class.ts";
import { KIND as REBALANCE_POLICY } from "./rebalance-policy.ts";
import { KIND as REBALANCE } from "./rebalance.ts";
import { KIND as WORKLOAD_SLO } from "./workload-slo.ts";

/** Every custom resource of the project. */
export const kinds: readonly Kind[] = [
  REBALANCE,
  CLUSTER_SCORE,
  REBALANCE_POLICY,
  WORKLOAD_SLO,
  NODE_CLASS,
  COLLECTOR_LOAD_BALANCER,
  ELASTI_SERVICE,
];
