import { createServer, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { expect } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { verify } from "../../faces/signature.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { runPlatform } from "../support/platform.ts";

export interface Arrived {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

export async function withReceiver(): Promise<{ platform: Platform; arrived: Arrived[] }> {
  const platform = await runPlatform();
  const arrived: Arrived[] = [];
  const { url } = await listenUntilEnd(
    createServer(async (incoming, response) => {
      arrived.push({ body: await buffer(incoming), headers: incoming.headers });
      response.end();
    }),
  );
  platform.control.saveWebhook({ url: `${url}/hook?a=[1-9]` });
  return { platform, arrived };
}

export function expectSigned({ body, headers }: Arrived, platform: Platform): void {
  const secrets = [platform.webhookSecret];
  const verdict = verify(body, headers["x-service-signature"], { secrets, now: Date.now() });
  expect(verdict.ok).toBe(true);
}

export const EDITED =
  '{ "events": [{"id":"evt_mine","type":"like"}, {"id":7}, null, {"id":"no id"}] }\n';

export const BODIES: readonly [string, string][] = [
  ["edited JSON", EDITED],
  ["nothing", ""],
  ["no JSON", "not json"],
  ["what looks like a file", "@/etc/passwd"],
  ["quotes", `it's "$HOME" \`id\` $(id) \\ ! %s %b ''`],
  ["line ends and controls", 'a\r\n\t"\u0000\u001b[31m\u0003\u007f\u0085\u2028\\n\\0101'],
  ["any script", "héllo 日本 👩‍🚀 \ufeff"],
  ["a long text", `{"x":"${"é'".repeat(300_000)}"}`],
];
