import { durationText, setting, type SettingsOf } from "@evenkeel/runtime";

/** How replicas agree on a leader. A service's table takes them in: `{ ...runtimeSettings, ...leaseSettings, … }`. */
export const leaseSettings = {
  leaseDuration: setting.duration({
    default: "15s",
    help: "How long the others wait for a leader that is not heard of before one of them takes over",
  }),
  leaseRenewDeadline: setting.duration({
    default: "10s",
    help: "How long a leader that cannot renew its lease goes on before it stops its leader-only work",
  }),
  leaseRetryPeriod: setting.duration({ default: "2s", help: "How often the lease is renewed or tried for" }),
};

/** What is wrong with the three together: one line each. */
export function leaseContradictions(settings: SettingsOf<typeof leaseSettings>): readonly string[] {
  const { leaseDuration, leaseRenewDeadline, leaseRetryPeriod } = settings;
  const faults: string[] = [];
  if (leaseDuration < 1000) faults.push(`--lease-duration is at least 1s, not ${durationText(leaseDuration)}`);
  if (leaseRenewDeadline >= leaseDuration) {
    faults.push("--lease-renew-deadline must be shorter than --lease-duration, or two replicas could lead at once");
  }
  if (leaseRetryPeriod <= 0 || leaseRetryPeriod * 1.2 >= leaseRenewDeadline) {
    faults.push(
      "--lease-retry-period must be clearly shorter than --lease-renew-deadline, so that a renewal can be tried twice",
    );
  }
  return faults;
}
