import { NGINX_LISTENS, NGINX_PACKAGE, NGINX_VERSION, prepareNginx } from "../../support/nginx.ts";
import { Server } from "../../support/server.ts";
import { isInstalled, SERVER_PATH } from "../../support/server-path.ts";

export function whyNoBalancer(): string | undefined {
  if (isInstalled(NGINX_VERSION)) return undefined;
  const install = `apt-get install --no-install-recommends ${NGINX_PACKAGE}`;
  return `the tests with a load balancer are skipped: there is no nginx (Debian: ${install})`;
}

export class Balancer {
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.url = `http://127.0.0.1:${port}`;
  }

  /**
   * @param folder holds all of nginx's files
   * @param bots the bots' ports
   */
  static async start(folder: string, port: number, bots: readonly number[]): Promise<Balancer> {
    const command = ["nginx", ...prepareNginx(folder, configuration(port, bots))];
    const options = { cwd: folder, data: folder, env: { PATH: SERVER_PATH } };
    return new Balancer(await Server.start(command, NGINX_LISTENS, options), port);
  }

  async stop(): Promise<void> {
    await this.#server.end("SIGINT");
  }
}

/** nginx passes a delivery to the next bot if one does not respond, and then skips the failed bot for a second. */
function configuration(port: number, bots: readonly number[]): string {
  const servers = bots.map((bot) => `server 127.0.0.1:${bot} max_fails=1 fail_timeout=1s;`);
  return `
    upstream bots {
      ${servers.join("\n      ")}
    }
    server {
      listen 127.0.0.1:${port};
      location = /webhook {
        proxy_pass http://bots;
        client_max_body_size 16m;
        proxy_connect_timeout 1s;
        proxy_read_timeout 2s;
        proxy_next_upstream error timeout http_503 non_idempotent;
      }
    }
  `;
}
