import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import type { Running } from "./programs.ts";

/** Bytes of the small answer and of the large one. */
export const SMALL = 1024;
export const LARGE = 10_000_000;

/** Serves `/small` and `/large`. */
export async function startBackend(folder: string): Promise<Running> {
  const root = join(folder, "root");
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "small"), Buffer.alloc(SMALL, "s"));
  writeFileSync(join(root, "large"), Buffer.alloc(LARGE, "l"));
  return startNginx(join(folder, "backend"), (port) => `server { listen 127.0.0.1:${port}; root ${root}; }`);
}

/** Forwards everything to `upstream` over connections that are kept. */
export function startProxy(folder: string, upstream: number): Promise<Running> {
  return startNginx(
    join(folder, "proxy"),
    (port) => `upstream backend { server 127.0.0.1:${upstream}; keepalive 128; }
    server {
      listen 127.0.0.1:${port};
      location / {
        proxy_pass http://backend;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $host;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_buffering off;
      }
    }`,
  );
}

/** One process: no master, so that its CPU time is found under one id. */
export async function startNginx(folder: string, servers: (port: number) => string): Promise<Running> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
    .join("\n    ");
  const config = join(folder, "nginx.conf");
  writeFileSync(
    config,
    `daemon off;
  master_process off;
  pid ${join(folder, "pid")};
  error_log stderr error;
  events { worker_connections 4096; }
  http {
    access_log off;
    sendfile on;
    tcp_nodelay on;
    keepalive_requests 1000000000;
    open_file_cache max=16;
    ${temporary}
    ${servers(port)}
  }
`,
  );
  const child = spawn("nginx", ["-e", "stderr", "-c", config], { stdio: ["ignore", "inherit", "inherit"] });
  const { pid } = child;
  if (pid === undefined) throw new Error("nginx did not start");
  for (let tries = 0; ; tries++) {
    try {
      await fetch(`http://127.0.0.1:${port}/small`);
      break;
    } catch (error) {
      if (child.exitCode !== null || tries > 100) throw new Error("nginx does not answer", { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return { pid, port, stop: () => child.kill("SIGKILL") };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
