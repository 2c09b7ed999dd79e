export { FakeClock } from "./fake-clock.ts";
export { hasCommand } from "./real-parts.ts";
