import { createServer } from "node:net";
import { getHeapStatistics } from "node:v8";

/**
 * Loaded into the service before its main, by `--import`: whoever connects to the socket is told the size of the heap
 * in bytes, after a full collection. It keeps no process alive.
 */
const { gc } = globalThis;
const socket = process.env["SOAK_HEAP_SOCKET"];
if (!gc || socket === undefined) throw new Error("needs --expose-gc and SOAK_HEAP_SOCKET");
createServer((connection) => {
  gc();
  connection.on("error", () => connection.destroy());
  connection.end(String(getHeapStatistics().used_heap_size));
})
  .listen(socket)
  .unref();
