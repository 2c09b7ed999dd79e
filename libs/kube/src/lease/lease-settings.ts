import { durationText, setting, type SettingsOf } from "@evenkeel/runtime";

/** Settings of leader election, for a service's table: `{ ...runtimeSettings, ...leaseSettings, … }`. */
export const leaseSettings = {
  leaseDuration: setting.duration({
    default: "15s",
    help: "Time after the last renewal of the lease after which another replica may take over",
  }),
  leaseRenewDeadline: setting.duration({
    default: "10s",
    help: "Time after which a leader that cannot renew its lease stops its leader-only work",
  }),
  leaseRetryPeriod: setting.duration({ default: "2s", help: "Time between attempts to take or renew the lease" }),
};

/** Contradictions between the three settings, one line each. */
export function leaseContradictions(settings: SettingsOf<typeof leaseSettings>): readonly string[] {
  const { leaseDuration, leaseRenewDeadline, leaseRetryPeriod } = settings;
  const faults: string[] = [];
  if (leaseDuration < 1000) faults.push(`--lease-duration must be at least 1s, not ${durationText(leaseDuration)}`);
  if (leaseRenewDeadline >= leaseDuration) {
    faults.push(
      "--lease-renew-deadline must be shorter than --lease-duration, otherwise two replicas could lead at once",
    );
  }
  if (leaseRetryPeriod <= 0 || leaseRetryPeriod * 1.2 >= leaseRenewDeadline) {
    faults.push(
      "--lease-retry-period must be much shorter than --lease-renew-deadline, so that a renewal can be retried",
    );
  }
  return faults;
}
