import { describe, expect, test } from "@jest/globals";
import { kubeErrors } from "@evenkeel/kube";
import { FakeClock } from "@evenkeel/runtime/testing";
import { AllZero, Route53Denied, Route53NoRecord, Route53Unreachable } from "../errors.ts";
import { SecretNotFound } from "../observe/errors.ts";
import type { WeightTarget } from "../targets/weight-target.ts";
import { revert, REVERT_LIMIT } from "./revert.ts";

const denied = new Route53Denied({ zone: "Z1", fault: "AccessDenied" });
const expired = new Route53Denied({ zone: "Z1", fault: "ExpiredToken" });
const noSecret = new SecretNotFound({ secret: "shop/aws", key: "id" });
const away = new Route53Unreachable({ zone: "Z1", fault: "timeout" });
const gone = new Route53NoRecord({ target: "blue", found: "nothing" });
const zero = new AllZero({ target: "blue", weight: 16, set: "www A" });

/** A target of which each write ends with the error. */
function failing(error: Error): WeightTarget {
  const rejects = () => Promise.reject(error);
  return { name: "blue", range: { minimum: 0, maximum: 255 }, read: rejects, write: rejects };
}

function reverted(error: Error, milliseconds: number) {
  const clock = new FakeClock();
  const { signal } = new AbortController();
  const terms = { clock, signal, lastLook: () => undefined, since: clock.now() - milliseconds };
  return revert([{ name: "blue", weight: 3, target: failing(error) }], terms);
}

describe("a revert that fails", () => {
  test.each([
    ["is retried while access is denied", denied, 0, "waiting"],
    ["is retried while the token has expired", expired, REVERT_LIMIT - 1, "waiting"],
    ["is retried while the Secret is missing", noSecret, REVERT_LIMIT - 1, "waiting"],
    ["is abandoned if access is still denied at the limit", denied, REVERT_LIMIT, "abandoned"],
    ["is abandoned if the Secret is still missing at the limit", noSecret, REVERT_LIMIT, "abandoned"],
    ["is retried without limit while Route 53 does not answer", away, 100 * REVERT_LIMIT, "waiting"],
    ["is abandoned at once if the record is gone", gone, 0, "abandoned"],
    ["is abandoned at once if every weight would be 0", zero, 0, "abandoned"],
  ] as const)("%s", async (_name, error, age, outcome) => {
    expect(await reverted(error, age)).toMatchObject([{ name: "blue", outcome }]);
  });

  test("is left to the next reconcile if the object changed meanwhile", async () => {
    const overtaken = new kubeErrors.ActOvertaken({ object: "shop/checkout", why: "changed" });
    await expect(reverted(overtaken, 0)).rejects.toBe(overtaken);
  });
});
