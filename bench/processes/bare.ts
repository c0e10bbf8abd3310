import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answer } from "../harness/child.ts";
import { monotonicNow } from "../support/clock.ts";

/** The least that can answer a delivery: reads it, checks its signature, parses it, and keeps nothing. */
let secret = "";

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    const [, t = "", v1 = ""] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(request.headers["x-service-signature"])) ?? [];
    const expected = createHmac("sha256", secret).update(`${t}.`).update(body).digest();
    const given = Buffer.from(v1, "hex");
    const valid = given.length === expected.length && timingSafeEqual(given, expected);
    const text = JSON.stringify({
      stored: valid ? JSON.parse(body.toString("utf8")).events.length : 0,
      duplicates: 0,
    });
    response.writeHead(valid ? 200 : 401, {
      "content-type": "application/json; charset=utf-8",
      "content-length": Buffer.byteLength(text),
    });
    response.end(text);
  });
});

const handlers = {
  /** Resolves to its address. */
  start: (settings: { readonly secret: string }): Promise<string> =>
    new Promise((resolve) => {
      secret = settings.secret;
      server.listen(0, "127.0.0.1", () => {
        resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`);
      });
    }),
  now: (): number => monotonicNow(),
  stop: (): void => {
    server.closeAllConnections();
    server.close();
  },
};

export type BareProcess = typeof handlers;

answer(handlers);
