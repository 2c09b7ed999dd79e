import { HttpServer, sleep, type Clock, type Logger } from "@evenkeel/runtime";

/** A server with requests that take as long as the caller says: for watching a drain. */
export function harbourServer(clock: Clock, log: Logger, host: string | undefined, port: number): HttpServer {
  const server = new HttpServer({ name: "harbour", host, port, flag: "port", log });
  server.routes.get<{ Querystring: { milliseconds?: string } }>("/hold", async ({ query }) => {
    await sleep(clock, Number(query.milliseconds ?? 0));
    return "released\n";
  });
  // Three ways to sink, for watching how the process reports its own end.
  server.routes.post("/sink/rejection", () => {
    void Promise.reject(new Error("a plank gave way"));
    return "sinking\n";
  });
  server.routes.post("/sink/exception", () => {
    setImmediate(() => {
      throw new Error("the mast fell");
    });
    return "sinking\n";
  });
  return server;
}
