// @fastify/http-proxy with its defaults. Prints the port that it listens on.
import proxy from "@fastify/http-proxy";
import fastify from "fastify";

const app = fastify();
await app.register(proxy, { upstream: process.argv[2] ?? "" });
const url = await app.listen({ host: "127.0.0.1", port: 0 });
console.log(new URL(url).port);
