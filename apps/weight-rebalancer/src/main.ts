import { main } from "@evenkeel/runtime";
import { composeWeightRebalancer } from "./compose.ts";
import { weightRebalancer } from "./definition.ts";

await main(weightRebalancer, process, (service) => composeWeightRebalancer(service, process.env, import.meta.url));
