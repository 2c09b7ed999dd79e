export { FakeClock } from "./fake-clock.ts";
export { FakeHost } from "./fake-host.ts";
export { hasCommand } from "./real-parts.ts";
