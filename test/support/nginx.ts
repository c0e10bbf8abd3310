import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const NGINX_PACKAGE = "nginx-light";

/** Prints nginx's version. */
export const NGINX_VERSION = ["nginx", "-v"] as const;

/** Part of the log line that appears once nginx listens. */
export const NGINX_LISTENS = "nginx/";

/**
 * Writes a configuration. Returns the arguments that run nginx with it in the foreground, as one process, so that
 * killing nginx leaves no process behind.
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
  // Until nginx has read its configuration, it would write errors to the system's log.
  return ["-p", folder, "-c", "nginx.conf", "-e", "stderr"];
}
