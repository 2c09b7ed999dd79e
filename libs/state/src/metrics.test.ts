import { expect, test } from "@jest/globals";
import { MetricRegistry } from "@evenkeel/metrics";
import { FakeClock, silentLog } from "@evenkeel/runtime/testing";
import { openState } from "./open-state.ts";

test("each call is counted by how it ended, and the state's availability is shown", async () => {
  const registry = new MetricRegistry();
  const log = silentLog();
  const state = openState("sqlite::memory:", { service: "s", clock: new FakeClock(), log, registry, deadline: 1000 });
  const leader = (token: bigint) => ({ scope: "leader", token });
  const put = (expected: "any" | "absent", token: bigint) =>
    state.records.put("object", "value", 1, { expected, fence: leader(token) }).catch(() => undefined);
  expect(await registry.text()).toContain("evenkeel_state_available 0\n");
  await put("any", 1n);
  await state.start?.({ signal: new AbortController().signal, fail: () => undefined });
  await put("any", 2n);
  await put("any", 1n);
  await put("absent", 2n);
  const text = await registry.text();
  expect(text).toContain("evenkeel_state_available 1\n");
  for (const outcome of ["unavailable", "ok", "fenced", "conflict"]) {
    expect(text).toContain(`evenkeel_state_calls_total{operation="put",outcome="${outcome}"} 1\n`);
  }
});
