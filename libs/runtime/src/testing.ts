export { FakeClock } from "./fake-clock.ts";
export { FakeHost } from "./fake-host.ts";
export { hasCommand } from "./real-parts.ts";
export { eventually } from "./testing/eventually.ts";
export { silentLog } from "./testing/silent-log.ts";
