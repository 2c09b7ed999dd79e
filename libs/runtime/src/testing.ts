export { eventually } from "./testing/eventually.ts";
export { FakeClock } from "./testing/fake-clock.ts";
export { FakeHost } from "./testing/fake-host.ts";
export { hasCommand } from "./testing/real-parts.ts";
export { silentLog } from "./testing/silent-log.ts";
