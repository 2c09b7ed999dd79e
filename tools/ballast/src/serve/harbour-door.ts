import { HttpServer, sleep, type Clock, type Logger } from "@evenkeel/runtime";

/** A door with requests that take as long as the caller says: for watching a drain. */
export function harbourDoor(clock: Clock, log: Logger, host: string | undefined, port: number): HttpServer {
  const door = new HttpServer({ name: "harbour", host, port, flag: "port", log });
  door.routes.get<{ Querystring: { milliseconds?: string } }>("/hold", async ({ query }) => {
    await sleep(clock, Number(query.milliseconds ?? 0));
    return "released\n";
  });
  // Three ways to sink, for watching how the process reports its own end.
  door.routes.post("/sink/rejection", () => {
    void Promise.reject(new Error("a plank gave way"));
    return "sinking\n";
  });
  door.routes.post("/sink/exception", () => {
    setImmediate(() => {
      throw new Error("the mast fell");
    });
    return "sinking\n";
  });
  return door;
}
