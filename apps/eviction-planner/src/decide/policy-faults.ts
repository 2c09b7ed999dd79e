import { selectorFaults } from "@evenkeel/placement";
import type { PlanSnapshot } from "./snapshot.ts";

export interface PolicyFault {
  /** The path of the field, such as `spec.coldThreshold`. */
  readonly field: string;
  readonly message: string;
}

/**
 * What makes a policy impossible to follow. A policy with a fault plans nothing: a guess could evict what nobody meant.
 */
export function policyFaults(spec: PlanSnapshot["policy"]["spec"]): readonly PolicyFault[] {
  const faults: PolicyFault[] = [];
  const check = (isRight: boolean, field: string, message: string) => {
    if (!isRight) faults.push({ field: `spec.${field}`, message });
  };
  const { hotThreshold, coldThreshold, hysteresis, targetVariance, targetSigma, resourceWeights } = spec;
  const numbers = { hotThreshold, coldThreshold, hysteresis, targetVariance, targetSigma };
  for (const [field, value] of Object.entries(numbers)) {
    check(
      value === undefined || (value >= 0 && Number.isFinite(value)),
      field,
      `expected a number of at least 0, not ${value}`,
    );
  }
  check(
    coldThreshold < hotThreshold,
    "coldThreshold",
    `expected less than hotThreshold ${hotThreshold}, not ${coldThreshold}`,
  );
  const { cpu = 0, memory = 0 } = resourceWeights;
  check(cpu >= 0 && Number.isFinite(cpu), "resourceWeights.cpu", `expected a number of at least 0, not ${cpu}`);
  check(
    memory >= 0 && Number.isFinite(memory),
    "resourceWeights.memory",
    `expected a number of at least 0, not ${memory}`,
  );
  check(cpu > 0 || memory > 0, "resourceWeights", "expected at least one weight above 0");
  for (const [index, selector] of (spec.workloadSelectors ?? []).entries()) {
    for (const { field, message } of selectorFaults(selector)) {
      faults.push({ field: `spec.workloadSelectors[${index}].${field}`, message });
    }
  }
  return faults;
}
