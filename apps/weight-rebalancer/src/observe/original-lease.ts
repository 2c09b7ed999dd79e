/** Tells whether the original rebalancer runs in this cluster, by the Lease by which it leads. */
export { ForeignLease as OriginalLease } from "@evenkeel/kube";
