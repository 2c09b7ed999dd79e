// Programs that run in pods, as text for `node -e`.

/**
 * An HTTP server that listens START milliseconds after it starts, with TLS if it is given CERT and KEY. It serves for
 * DRAIN milliseconds after SIGTERM, and ends what it has begun, as a good pod does. `/flap` makes it not ready for
 * ten seconds, `/fill` writes a longer log than its limit of storage allows, and `/probes` answers with the number
 * of the resolver's probes that have reached this pod.
 */
export const SERVER = `
  const { START = "0", DRAIN = "2000", CERT: cert, KEY: key, HOSTNAME } = process.env;
  let ready = true;
  let terminating = false;
  let probes = 0;
  const { createServer } = require(cert ? "node:https" : "node:http");
  const server = createServer({ cert, key }, (request, response) => {
    if (request.url === "/readyz") return void response.writeHead(ready ? 200 : 503).end();
    if (request.url === "/flap") {
      ready = false;
      setTimeout(() => (ready = true), 10000);
    }
    if (request.url.startsWith("/.well-known/") || request.method === "OPTIONS") probes += 1;
    if (request.url === "/probes") return void response.end(String(probes));
    if (request.url === "/fill") process.stdout.write("full\\n".repeat(2 ** 20));
    if (terminating) response.setHeader("connection", "close");
    request.resume().on("end", () => response.end(HOSTNAME));
  });
  server.keepAliveTimeout = 60000;
  setTimeout(() => server.listen(8080), Number(START));
  process.on("SIGTERM", () => {
    terminating = true;
    setTimeout(() => server.close(() => process.exit(0)), Number(DRAIN));
  });
`;

/** A metric server on which every service is idle. */
export const METRICS = `
  require("node:http").createServer((request, response) => {
    let body = decodeURIComponent(request.url);
    request.on("data", (data) => (body += decodeURIComponent(data))).on("end", () => {
      const value = /up\\{/.test(body) ? "1" : "0";
      const result = [{ metric: {}, value: [Date.now() / 1000, value] }];
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ status: "success", data: { resultType: "vector", result } }));
    });
  }).listen(9090);
  process.on("SIGTERM", () => process.exit(0));
`;

/** Waits until it is ended. */
export const IDLE = `
  setInterval(() => undefined, 1000);
  process.on("SIGTERM", () => process.exit(0));
`;

/** What a client sends. */
export interface Load {
  readonly url: string;
  readonly count: number;
  /** Requests per second; 0: all at once. */
  readonly rate: number;
  /** Connections that are kept between requests; 0: a new one for each request. */
  readonly kept?: number;
  /** After every so many requests, but not the last ones, a pause of between half of so many milliseconds and all. */
  readonly pause?: { readonly every: number; readonly milliseconds: number };
  /** Bytes of the body of every other request, which is a POST then. */
  readonly body?: number;
  /** Milliseconds after which a request counts as lost. */
  readonly patience?: number;
  /** The certificate of localhost that the server must have, if the URL begins with https. */
  readonly ca?: string;
  /**
   * The local port of the first request, each further one has the next; absent: the kernel's choice, which may repeat.
   * The node sends a connection from the port of an unanswered one to the same, possibly vanished pod for two minutes.
   */
  readonly firstPort?: number;
}

/** What became of that. */
export interface Tally {
  readonly asked: number;
  /** How many were not answered with 200, by error or status. */
  readonly lost: Readonly<Record<string, number>>;
  /** When the lost ones were sent, in milliseconds since 1970. */
  readonly lostAt: readonly number[];
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

/** Connects to port 80 of an address until that succeeds, and sends nothing. */
export const CONNECT = `
  const attempt = () => {
    const socket = require("node:net").connect(80, process.argv[1]);
    socket.once("connect", () => socket.destroy());
    socket.once("error", () => setTimeout(attempt, 20));
  };
  attempt();
`;

/**
 * Sends requests without waiting for the answers of those before, and prints what became of them. A GET on a kept
 * connection that the server has closed meanwhile is sent once more, as every HTTP client does (RFC 9112, 9.3.1).
 */
export const CLIENT = `
  const { url, count, rate, kept = 0, pause, body = 0, patience = 60000, ca, firstPort } = JSON.parse(process.argv[1]);
  const { Agent, request } = require(ca ? "node:https" : "node:http");
  const tls = ca ? { ca, servername: "localhost" } : {};
  const agent = kept > 0 ? new Agent({ keepAlive: true, maxSockets: kept }) : false;
  const lost = {};
  const lostAt = [];
  const times = [];
  const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
  const attempt = (index) => new Promise((resolve) => {
    const isPost = body > 0 && index % 2 === 1;
    const localPort = firstPort === undefined ? undefined : firstPort + index;
    const sent = request(url + index, { ...tls, agent, localPort, method: isPost ? "POST" : "GET" }, (answer) => {
      answer.resume().on("end", () => resolve(String(answer.statusCode))).on("error", (error) => resolve(error.code));
    });
    const timer = setTimeout(() => { sent.destroy(); resolve("TIMEOUT"); }, patience);
    sent.on("error", (error) => resolve(sent.reusedSocket && !isPost && error.code === "ECONNRESET" ? "AGAIN" : error.code));
    sent.on("close", () => clearTimeout(timer));
    sent.end(isPost ? Buffer.alloc(body) : undefined);
  });
  const ask = async (index) => {
    const sentAt = Date.now();
    const began = performance.now();
    let outcome = await attempt(index);
    for (let again = 0; outcome === "AGAIN" && again < kept; again++) outcome = await attempt(index);
    times.push(performance.now() - began);
    if (outcome === "200") return;
    lost[outcome] = (lost[outcome] ?? 0) + 1;
    lostAt.push(sentAt);
  };
  (async () => {
    const all = [];
    for (let index = 0; index < count; index++) {
      all.push(ask(index));
      if (pause && (index + 1) % pause.every === 0 && index + 1 < count) await wait(pause.milliseconds * (0.5 + Math.random() / 2));
      else if (rate > 0) await wait(1000 / rate);
    }
    await Promise.all(all);
    times.sort((a, b) => a - b);
    const at = (share) => Math.round(times[Math.min(times.length - 1, Math.floor(times.length * share))]);
    const tally = { asked: count, lost, lostAt, p50: at(0.5), p99: at(0.99), longest: at(1) };
    process.stdout.write(JSON.stringify(tally), () => process.exit(0));
  })();
`;

/** What psql is asked, in a pod of its own. */
export interface Queries {
  readonly host: string;
  /** All at once, each by a psql of its own. */
  readonly count: number;
}

/** Runs psql, and prints how many queries had each answer. */
export const PSQL = `
  const { execFile } = require("node:child_process");
  const { host, count } = JSON.parse(process.argv[1]);
  const ask = () => new Promise((resolve) => {
    const args = ["-h", host, "-p", "80", "-U", "shop", "-d", "postgres", "-Atc", "select 6 * 7"];
    execFile("psql", args, { timeout: 60000 }, (error, stdout, stderr) => resolve(error ? stderr || error.message : stdout.trim()));
  });
  Promise.all(Array.from({ length: count }, ask)).then((answers) => {
    const counts = {};
    for (const answer of answers) counts[answer] = (counts[answer] ?? 0) + 1;
    console.log(JSON.stringify(counts));
  });
`;

/** Starts PostgreSQL with an empty database, to which every user is admitted, on port 8080. */
export const POSTGRES = `
  initdb -D /tmp/data -U shop --auth=trust --no-sync
  echo "host all all all trust" >> /tmp/data/pg_hba.conf
  exec postgres -D /tmp/data -h 0.0.0.0 -p 8080 -k /tmp -F -N 600
`;
