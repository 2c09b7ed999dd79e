// The least that the target API could be: a server that sends the same bytes to everybody.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const body = readFileSync(process.argv[2] ?? "");
const server = createServer({ keepAliveTimeout: 75_000 }, (_request, answer) => {
  answer.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  answer.end(body);
});
server.listen(0, "127.0.0.1", () => console.log(`ready ${(server.address() as AddressInfo).port}`));
