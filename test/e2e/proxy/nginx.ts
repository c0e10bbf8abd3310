import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeBlocks, pages } from "../../docs/markdown.ts";
import type { ProxyKind } from "./proxy.ts";

/** nginx as a process of its own, with the location block of docs/deploying.md. */
export const nginx: ProxyKind = {
  name: "nginx",
  debianPackage: "nginx-light",
  version: ["nginx", "-v"],
  prepare: ({ folder, certificates, port, bot }) => {
    const prefix = join(folder, "nginx");
    mkdirSync(prefix, { recursive: true });
    const { cert, key } = certificates.localhost;
    writeFileSync(
      join(prefix, "nginx.conf"),
      `
      # One process, so that nothing is left of it when it is killed.
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
        server {
          listen 127.0.0.1:${port} ssl;
          ssl_certificate ${cert};
          ssl_certificate_key ${key};
          ${documentedLocation(bot)}
        }
      }
      `,
    );
    // Until the configuration is read, errors would go to the system's own log.
    const args = ["-p", prefix, "-c", "nginx.conf", "-e", "stderr"];
    return { command: "nginx", args, env: {}, listening: "nginx/" };
  },
};

/** The block of the page, in front of this bot instead of the one at the usual port. */
function documentedLocation(bot: string): string {
  const page = pages.find(({ path }) => path === "docs/deploying.md");
  const blocks = page === undefined ? [] : codeBlocks(page);
  const block = blocks.find(({ language }) => language === "nginx")?.code;
  const here = block?.replace("http://127.0.0.1:3000", bot);
  if (here === undefined || here === block) {
    throw new Error("docs/deploying.md shows no nginx in front of http://127.0.0.1:3000");
  }
  return here;
}
