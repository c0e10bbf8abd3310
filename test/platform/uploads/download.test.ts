import { createServer, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { systemClock } from "../../faces/core.ts";
import { DOWNLOAD_TIME_LIMIT_MS, downloadWith, MAX_IMAGE_BYTES } from "../../faces/platform.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { ManualClock } from "../support/clock.ts";
import { imageOf } from "../support/images.ts";
import { imageServer } from "./image-server.ts";

test("a server that switches to another protocol gives no image", async () => {
  const server = await imageServer((response) => {
    response.writeHead(101, { upgrade: "x", connection: "upgrade" }).end();
  });
  await expect(server.download()).rejects.toMatchObject({ status: 400, code: "BLOCKED_HOST" });
});

test("a rejected response's connection is closed", async () => {
  const server = await imageServer((response) => {
    response.writeHead(404);
    response.write("and so on");
  });
  await expect(server.download()).rejects.toMatchObject({ code: "NOT_IMAGE" });
  await server.closed;
});

test("5 MB are accepted, and one more byte is rejected, with or without a content length", async () => {
  const whole = await imageOf(MAX_IMAGE_BYTES);
  const fits = await imageServer((response) => response.end(whole));
  expect((await fits.download()).byteLength).toBe(MAX_IMAGE_BYTES);
  const over = Buffer.concat([whole, Buffer.from("x")]);
  const announced = await imageServer((response) => response.end(over));
  await expect(announced.download()).rejects.toMatchObject({ status: 400, code: "TOO_LARGE" });
  const chunked = await imageServer((response) => {
    response.write(whole);
    response.end("x");
  });
  await expect(chunked.download()).rejects.toMatchObject({ status: 400, code: "TOO_LARGE" });
});

test("a stream without an end is cut off at 5 MB", async () => {
  const server = await imageServer((response) => {
    const more = () => {
      while (response.write(Buffer.alloc(64 * 1024)));
    };
    response.on("drain", more);
    more();
  });
  await expect(server.download()).rejects.toMatchObject({ code: "TOO_LARGE" });
  await server.closed;
});

test.each(["before the answer", "in the middle of it"])(
  "a host that falls silent %s gets 10 s",
  async (when) => {
    const clock = new ManualClock();
    const silent = Promise.withResolvers<void>();
    const server = await imageServer((response) => {
      if (when !== "before the answer") response.write("x");
      silent.resolve();
    });
    const answer = server.download({ clock });
    const refused = expect(answer).rejects.toMatchObject({ status: 400, code: "BLOCKED_HOST" });
    await silent.promise;
    clock.advance(DOWNLOAD_TIME_LIMIT_MS);
    await refused;
    await server.closed;
  },
);

test("a host that sends slowly gets 10 s in total, not per byte", async () => {
  const clock = new ManualClock();
  const drip = Promise.withResolvers<ServerResponse>();
  const server = await imageServer((response) => {
    response.write("x");
    drip.resolve(response);
  });
  const answer = server.download({ clock });
  const refused = expect(answer).rejects.toMatchObject({ status: 400, code: "BLOCKED_HOST" });
  const response = await drip.promise;
  const second = DOWNLOAD_TIME_LIMIT_MS / 10;
  for (let passed = second; passed < DOWNLOAD_TIME_LIMIT_MS; passed += second) {
    clock.advance(second);
    await new Promise((written) => response.write("x", written));
  }
  clock.advance(second);
  await refused;
  await server.closed;
});

test("an endless lookup gets 10 s", async () => {
  const clock = new ManualClock();
  const server = await imageServer();
  const asked = Promise.withResolvers<void>();
  const resolve = () => {
    asked.resolve();
    return new Promise<never>(() => {});
  };
  const answer = server.download({ clock, resolve });
  const refused = expect(answer).rejects.toMatchObject({ status: 400, code: "BLOCKED_HOST" });
  await asked.promise;
  clock.advance(DOWNLOAD_TIME_LIMIT_MS);
  await refused;
  expect(server.asked).toEqual([]);
});

test("a compressed response is not decompressed, so it cannot exceed 5 MB", async () => {
  const packed = gzipSync(await imageOf(2 * MAX_IMAGE_BYTES));
  const server = await imageServer((response, _path, request) => {
    expect(request.headers["accept-encoding"]).toBeUndefined();
    response.writeHead(200, { "content-type": "image/png", "content-encoding": "gzip" });
    response.end(packed);
  });
  expect(await server.download()).toEqual(packed);
});

test("a truncated response is rejected", async () => {
  const server = await imageServer((response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write("x", () => response.destroy());
  });
  await expect(server.download()).rejects.toMatchObject({ status: 400, code: "BLOCKED_HOST" });
});

test("a name that does not resolve, or has no address, is rejected", async () => {
  const server = await imageServer();
  const unknown = server.download({ resolve: () => Promise.reject(new Error("ENOTFOUND")) });
  await expect(unknown).rejects.toMatchObject({ code: "BLOCKED_HOST" });
  const empty = server.download({ resolve: async () => [] });
  await expect(empty).rejects.toThrow("the host name has no address");
});

test.each(["", "a.png", "//example.org/a.png", "127.0.0.1", "[::1]"])(
  "%j is no address",
  async (url) => {
    const { parts } = await imageServer();
    const answer = downloadWith(parts)(url, new AbortController().signal);
    await expect(answer).rejects.toMatchObject({ status: 400, code: "VALIDATION" });
  },
);

test("a download ends when its client disconnects", async () => {
  const begun = Promise.withResolvers<void>();
  const server = await imageServer(() => begun.resolve());
  const client = new AbortController();
  const refused = expect(server.download({}, client.signal)).rejects.toThrow();
  await begun.promise;
  client.abort();
  await refused;
  await server.closed;
});

test("a port without TLS is rejected", async () => {
  const { port } = await listenUntilEnd(createServer((_request, response) => response.end("")));
  const get = downloadWith({
    clock: systemClock,
    resolve: async () => [{ address: "127.0.0.1", family: 4 }],
    isAllowed: (address) => address === "127.0.0.1",
  });
  const download = get(`https://bot.example.org:${port}/a.png`, new AbortController().signal);
  await expect(download).rejects.toMatchObject({ status: 400, code: "BLOCKED_HOST" });
});
