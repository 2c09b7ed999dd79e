export { run } from "./command-line.ts";
export type { Registration } from "./services/registration.ts";
export { registrations } from "./services/index.ts";
