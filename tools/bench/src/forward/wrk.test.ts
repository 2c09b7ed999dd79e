import { describe, expect, test } from "@jest/globals";
import { readWrk } from "./wrk.ts";

const report = `Running 4s test @ http://127.0.0.1:8080/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.00ms  651.31us  17.98ms   95.31%
    Req/Sec    65.93k     5.79k   76.04k    65.00%
  Latency Distribution
     50%    0.91ms
     75%    1.12ms
     90%    1.38ms
     99%  3.10ms
  262346 requests in 4.00s, 307.24MB read
Requests/sec:  65543.16
Transfer/sec:     76.76MB
`;

describe("a report of wrk", () => {
  test("is read into numbers, times in milliseconds", () => {
    expect(readWrk(report)).toEqual({ requests: 262_346, perSecond: 65_543.16, p50: 0.91, p99: 3.1 });
    expect(readWrk(report.replace("0.91ms", "910.00us").replace("3.10ms", "  1.20s "))).toMatchObject({
      p50: 0.91,
      p99: 1200,
    });
  });

  test.each(["  Non-2xx or 3xx responses: 3", "  Socket errors: connect 0, read 7, write 0, timeout 0"])(
    "spoils the run with %s",
    (line) => {
      expect(() => readWrk(report.replace("Requests/sec", `${line}\nRequests/sec`))).toThrow(line.trim());
    },
  );

  test("without a figure is no report", () => {
    expect(() => readWrk("unable to connect")).toThrow("requests in");
  });
});
