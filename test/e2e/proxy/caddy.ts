import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProxyKind } from "./proxy.ts";

const TEMPLATE = fileURLToPath(new URL("../../../templates/starter/Caddyfile", import.meta.url));

/** Uses the Caddyfile that every scaffolded bot has. */
export const caddy: ProxyKind = {
  name: "Caddy",
  debianPackage: "caddy",
  version: ["caddy", "version"],
  prepare: ({ folder, certificates, port, bot }) => {
    const home = join(folder, "caddy");
    mkdirSync(home, { recursive: true });
    const { cert, key } = certificates.authority;
    const config = join(home, "Caddyfile");
    writeFileSync(
      config,
      `
{
	admin off
	# For localhost Caddy makes its certificates itself; nothing is told to the machine's own store.
	skip_install_trust
	pki {
		ca local {
			root {
				cert ${cert}
				key ${key}
			}
		}
	}
	auto_https disable_redirects
	https_port ${port}
	default_bind 127.0.0.1
}
${inFrontOf(bot)}`,
    );
    const args = ["run", "--config", config, "--adapter", "caddyfile"];
    const env = { BOT_DOMAIN: "localhost", HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
    return { command: "caddy", args, env, listening: "serving initial configuration" };
  },
};

function inFrontOf(bot: string): string {
  const text = readFileSync(TEMPLATE, "utf8");
  const here = text.replace("reverse_proxy bot:3000", `reverse_proxy ${new URL(bot).host}`);
  if (here === text) throw new Error(`${TEMPLATE} does not proxy to bot:3000`);
  return here;
}
