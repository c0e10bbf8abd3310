import { join } from "node:path";
import { documentedBlock } from "../../docs/markdown.ts";
import { NGINX_LISTENS, NGINX_PACKAGE, NGINX_VERSION, prepareNginx } from "../../support/nginx.ts";
import type { ProxyKind } from "./proxy.ts";

/** Uses the location block from docs/deploy/overview.md. */
export const nginx: ProxyKind = {
  name: "nginx",
  debianPackage: NGINX_PACKAGE,
  version: NGINX_VERSION,
  prepare: ({ folder, certificates, port, bot }) => {
    const { cert, key } = certificates.localhost;
    const args = prepareNginx(
      join(folder, "nginx"),
      `server {
        listen 127.0.0.1:${port} ssl;
        ssl_certificate ${cert};
        ssl_certificate_key ${key};
        ${documentedLocation(bot)}
      }`,
    );
    return { command: "nginx", args, env: {}, listening: NGINX_LISTENS };
  },
};

/** Returns the location block from the page, with this bot's port in place of the usual one. */
function documentedLocation(bot: string): string {
  const block = documentedBlock("docs/deploy/overview.md", "nginx");
  const here = block.replace("http://127.0.0.1:3000", bot);
  if (here === block) {
    throw new Error("docs/deploy/overview.md shows no nginx in front of http://127.0.0.1:3000");
  }
  return here;
}
