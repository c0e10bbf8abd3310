import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const NGINX_PACKAGE = "nginx-light";

/** Tells the version of nginx. */
export const NGINX_VERSION = ["nginx", "-v"] as const;

/** In the line of its log that comes once it listens. */
export const NGINX_LISTENS = "nginx/";

/**
 * Writes a configuration, and says with which arguments nginx runs by it in the foreground: as one process, so
 * that nothing is left of it when it is killed.
 *
 * @param folder holds everything that it writes
 * @param http what its `http` block has besides
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
  // Until the configuration is read, errors would go to the system's own log.
  return ["-p", folder, "-c", "nginx.conf", "-e", "stderr"];
}
