import { main } from "@evenkeel/runtime";
import { composeEvictionPlanner } from "./compose.ts";
import { evictionPlanner } from "./definition.ts";

await main(evictionPlanner, process, (service) => composeEvictionPlanner(service, process.env, import.meta.url));
