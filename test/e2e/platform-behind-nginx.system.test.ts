import { expect, test } from "vitest";
import { NGINX_LISTENS, NGINX_VERSION, prepareNginx } from "../support/nginx.ts";
import { TestProcess } from "../support/process.ts";
import { reservePort } from "../support/reserve-port.ts";
import { runPlatform } from "../support/running-bot.ts";
import { isInstalled, SERVER_PATH } from "../support/server-path.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** This nginx is configured as in most guides: it sends its own target as Host, and no headers about the client. */
test.skipIf(!isInstalled(NGINX_VERSION))(
  "a stranger behind a plain nginx gets neither the platform's state nor its control token",
  async () => {
    const platform = await runPlatform();
    const port = await reservePort();
    const http = `server { listen 127.0.0.1:${port}; location / { proxy_pass ${platform.url}; } }`;
    const args = prepareNginx(temporaryFolder(), http);
    const nginx = new TestProcess([...args], { command: "nginx", env: { PATH: SERVER_PATH } });
    await nginx.line((line) => line.includes(NGINX_LISTENS), nginx.stderr);
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      return { status: response.status, text: await response.text() };
    };
    const page = await ask("/", { accept: "text/html" });
    const webhook = await ask("/control/v1/webhook");
    expect(webhook.status).toBe(401);
    for (const { text } of [page, webhook, await ask("/"), await ask("/control/v1/state")]) {
      expect(text).not.toContain(platform.apiKey);
      expect(text).not.toContain(platform.webhookSecret);
      expect(text).not.toContain(platform.controlToken);
    }
    // Positive control: with the token, the same request succeeds through the proxy.
    const own = await ask("/control/v1/webhook", { "x-control-token": platform.controlToken });
    expect(own.status).toBe(200);
    expect(JSON.parse(own.text)).toHaveProperty("enabled");
  },
);
