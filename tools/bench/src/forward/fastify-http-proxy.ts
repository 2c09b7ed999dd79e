// @fastify/http-proxy with its defaults and WebSockets. Prints the port that it listens on.
import proxy from "@fastify/http-proxy";
import fastify from "fastify";

const app = fastify();
await app.register(proxy, { upstream: process.argv[2] ?? "", websocket: true });
const url = await app.listen({ host: "127.0.0.1", port: 0 });
console.log(new URL(url).port);
