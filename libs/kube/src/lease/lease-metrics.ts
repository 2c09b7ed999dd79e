import { gauge, upTo } from "@evenkeel/metrics";

export const leaseMetrics = {
  leading: gauge("leader_election_master_status", "1 while this process leads, 0 while it does not.", {
    name: upTo(10),
  }),
};
