import { main } from "@evenkeel/runtime";
import { weightRebalancer } from "./definition.ts";

await main(weightRebalancer, process, () => undefined);
