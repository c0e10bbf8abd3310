import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const NGINX_PACKAGE = "nginx-light";

export const NGINX_VERSION = ["nginx", "-v"] as const;

/** nginx logs a line with this text once it is listening. */
export const NGINX_LISTENS = "nginx/";

/**
 * Writes a configuration, and returns the arguments that run nginx with it. nginx runs in the foreground as a single
 * process, so that killing it leaves no process behind.
 *
 * @param folder for all files that nginx writes
 * @param http additional content for the `http` block
 */
export function prepareNginx(folder: string, http: string): readonly string[] {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "nginx.conf"),
    `
    daemon off;
    master_process off;
    pid nginx.pid;
    error_log stderr notice;
    events {}
    http {
      access_log off;
      client_body_temp_path body;
      proxy_temp_path proxy;
      fastcgi_temp_path fastcgi;
      uwsgi_temp_path uwsgi;
      scgi_temp_path scgi;
      ${http}
    }
    `,
  );
  // Until nginx has read its configuration, it would log errors to the system's log file.
  return ["-p", folder, "-c", "nginx.conf", "-e", "stderr"];
}
