import { main } from "@evenkeel/runtime";
import { composeScaleResolver } from "./compose.ts";
import { scaleResolver } from "./definition.ts";

await main(scaleResolver, process, (service) => composeScaleResolver(service, process.env, import.meta.url));
