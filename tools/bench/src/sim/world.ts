// A process that is the embedded world. It says where it is, and tells its memory and longest stall when asked.
import { controlPlane, startApiServer, workloads } from "@evenkeel/sim";
import { watchStalls } from "../stall.ts";

const users = [{ name: "admin", groups: ["system:masters"], token: "bench" }];
const server = await startApiServer({ users, behaviours: [...controlPlane, ...workloads()] });
const stalls = watchStalls();
process.on("message", () => process.send?.({ rss: process.memoryUsage.rss(), stall: stalls.longest() }));
process.send?.({ url: server.url });
