import { main } from "@evenkeel/runtime";
import { composeEndpointProxy } from "./compose.ts";
import { endpointProxy } from "./definition.ts";

await main(endpointProxy, process, (service) => composeEndpointProxy(service, process.env, import.meta.url));
