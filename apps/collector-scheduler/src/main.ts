import { main } from "@evenkeel/runtime";
import { composeCollectorScheduler } from "./compose.ts";
import { collectorScheduler } from "./definition.ts";

await main(collectorScheduler, process, (service) => composeCollectorScheduler(service, process.env, import.meta.url));
