import { main } from "@evenkeel/runtime";
import { composeBallast } from "./compose.ts";
import { ballast } from "./definition.ts";

await main(ballast, process, composeBallast);
