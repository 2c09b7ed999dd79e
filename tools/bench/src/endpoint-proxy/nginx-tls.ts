import { join } from "node:path";
import { startNginx } from "../forward/nginx.ts";
import type { Running } from "../forward/programs.ts";

/** Bytes of an answer: a small ConfigMap. */
const SIZE = 1024;

/** Answers every path over TLS, with the certificate in `folder`. */
export function startTlsBackend(folder: string): Promise<Running> {
  return startNginx(
    join(folder, "backend"),
    (port) => `server {
      listen 127.0.0.1:${port} ssl;
      ${certificate(folder)}
      location / { default_type application/json; return 200 "${"s".repeat(SIZE)}"; }
    }`,
  );
}

/** Forwards everything over TLS to `upstream`, which it verifies, and says who asks. */
export function startTlsProxy(folder: string, upstream: number): Promise<Running> {
  return startNginx(
    join(folder, "proxy"),
    (port) => `upstream backend { server 127.0.0.1:${upstream}; keepalive 128; }
    server {
      listen 127.0.0.1:${port} ssl;
      ${certificate(folder)}
      location / {
        proxy_pass https://backend;
        proxy_headers_hash_max_size 1024;
        proxy_headers_hash_bucket_size 128;
        proxy_ssl_verify on;
        proxy_ssl_trusted_certificate ${join(folder, "tls.crt")};
        proxy_ssl_name localhost;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $host;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        proxy_set_header X-Forwarded-Host $host;
        proxy_set_header X-Forwarded-Proto https;
        proxy_set_header Forwarded "for=$remote_addr;host=$host;proto=https";
        proxy_set_header Via "1.1 endpoint-proxy";
        proxy_set_header Authorization "Bearer impersonator";
        proxy_set_header Impersonate-User alice;
        proxy_set_header Impersonate-Group developers;
        proxy_set_header Impersonate-Group system:authenticated;
        proxy_set_header Audit-Id $request_id;
        proxy_buffering off;
      }
    }`,
  );
}

function certificate(folder: string): string {
  return `ssl_certificate ${join(folder, "tls.crt")}; ssl_certificate_key ${join(folder, "tls.key")};`;
}
