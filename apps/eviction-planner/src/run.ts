import { main } from "@evenkeel/runtime";
import { composeEvictionPlanner } from "./compose.ts";
import { evictionPlanner } from "./definition.ts";

/** The whole program, in its main thread. `address` is that of its main module. */
export async function runEvictionPlanner(address: string): Promise<void> {
  await main(evictionPlanner, process, (service) => composeEvictionPlanner(service, process.env, address));
}
