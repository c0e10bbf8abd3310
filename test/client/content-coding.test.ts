import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Responder, rejection, serve } from "./api.ts";

const profile = Buffer.from(JSON.stringify({ username: "bot", name: "é😀" }));

function coded(
  coding: string,
  body: Uint8Array,
  { status = 200, type = "application/json" } = {},
): Responder {
  return (response) => {
    response.writeHead(status, { "content-type": type, "content-encoding": coding }).end(body);
  };
}

/** Without options, the client sends requests with `node:http`. `fetch` decodes bodies itself. */
const ways = [
  ["node:http", {}],
  ["fetch", { fetch: globalThis.fetch }],
] as const;

describe.each(ways)("over %s", (_way, options) => {
  test.each([
    ["gzip", gzipSync(profile)],
    ["x-gzip", gzipSync(profile)],
    ["GZIP", gzipSync(profile)],
    ["deflate", deflateSync(profile)],
    ["deflate", deflateRawSync(profile)],
    ["br", brotliCompressSync(profile)],
    ["gzip, br", brotliCompressSync(gzipSync(profile))],
    ["deflate,gzip", gzipSync(deflateSync(profile))],
  ])("a response in %s is read", async (coding, body) => {
    const { client } = await serve(coded(coding, body), options);
    expect(await client.me()).toMatchObject({ username: "bot", name: "é😀" });
  });

  test("a coding that is unknown is named", async () => {
    const { client } = await serve(coded("compress", Buffer.from([0x1f, 0x9d, 0x90])), options);
    const error = await rejection(client.me());
    expect(error).toMatchObject({ code: "API_INVALID_RESPONSE" });
    expect((error as Error).message).toContain("compress");
  });

  test("an error keeps its code and its remedy", async () => {
    const body = gzipSync(JSON.stringify({ error: { code: "BLOCKED", message: "No." } }));
    const { client } = await serve(coded("gzip", body, { status: 403 }), options);
    const sending = client.dms.send("c_1", { text: "hi" });
    expect(await rejection(sending)).toMatchObject({ code: "BLOCKED", status: 403 });
  });

  test("an upload returns its key", async () => {
    const { client } = await serve(coded("gzip", gzipSync('{"key":"k_1"}')), options);
    expect(await client.upload(Buffer.from("GIF89a"))).toMatchObject({ key: "k_1" });
  });

  test("a response that breaks off is an error, and no retry of a write", async () => {
    const body = gzipSync(Buffer.from(JSON.stringify({ id: "m_1", text: "x".repeat(50_000) })));
    const { client, calls } = await serve(coded("gzip", body.subarray(0, -20), { status: 201 }), {
      ...{ ...options, retries: 2 },
    });
    const sending = client.dms.send("c_1", { text: "hi" });
    expect(await rejection(sending)).toHaveProperty("code");
    expect(calls).toHaveLength(1);
  });
});

test("a response in zstd is read", async () => {
  const { client } = await serve(coded("zstd", zstdCompressSync(profile)));
  expect(await client.me()).toMatchObject({ username: "bot" });
});

test.each(["identity", "", "identity, identity"])(
  "a plain response in %j is read",
  async (coding) => {
    const { client } = await serve(coded(coding, profile));
    expect(await client.me()).toMatchObject({ username: "bot" });
  },
);

test("an unread coding that the header names is a remedy", async () => {
  const { client } = await serve(coded("compress", profile));
  const { message } = (await rejection(client.me())) as Error;
  expect(message).toMatch(/GET \/me: .*Content-Encoding "compress".*proxy/);
});

test.each([
  ["without its end", gzipSync(profile).subarray(0, -10)],
  ["with a wrong checksum", Buffer.concat([gzipSync(profile).subarray(0, -8), Buffer.alloc(8)])],
  ["that is none", profile],
])("gzip %s is named as damaged", async (_, body) => {
  const { client } = await serve(coded("gzip", body));
  const error = await rejection(client.me());
  expect(error).toMatchObject({ code: "API_INVALID_RESPONSE" });
  expect((error as Error).message).toMatch(/cannot be decoded as gzip/);
});

test("a connection that breaks off is an outage, as without a coding", async () => {
  const { client } = await serve((response) => {
    const headers = { "content-encoding": "gzip", "content-length": "1000" };
    response.writeHead(200, headers).write(gzipSync(profile).subarray(0, 10));
    setImmediate(() => response.destroy());
  });
  expect(await rejection(client.me())).toMatchObject({ code: "API_UNREACHABLE" });
});

test("a response without a body needs no decoding", async () => {
  const { client } = await serve(coded("gzip", Buffer.alloc(0), { status: 201 }));
  expect(await client.posts.comment("p_1", { text: "hi" })).toBeDefined();
});

test("four codings are undone, and no more", async () => {
  const packed = (times: number) => {
    const body = Array.from({ length: times }).reduce<Buffer>((bytes) => gzipSync(bytes), profile);
    return serve(coded(Array(times).fill("gzip").join(","), body));
  };
  expect(await (await packed(4)).client.me()).toMatchObject({ username: "bot" });
  const refused = rejection((await packed(5)).client.me());
  expect(await refused).toMatchObject({ code: "API_INVALID_RESPONSE" });
});

/** Brotli's default quality takes seconds for a bomb. */
const QUICKLY = { [constants.BROTLI_PARAM_QUALITY]: 1 };

test.each([
  ["gzip", (bytes: Buffer) => gzipSync(bytes)],
  ["br", (bytes: Buffer) => brotliCompressSync(bytes, { params: QUICKLY })],
  ["zstd", (bytes: Buffer) => zstdCompressSync(bytes)],
  ["gzip, gzip", (bytes: Buffer) => gzipSync(gzipSync(bytes))],
])("a bomb in %s is not unpacked", async (coding, pack) => {
  const { client } = await serve(coded(coding, pack(Buffer.alloc(32 * 1024 * 1024))));
  const before = process.memoryUsage().arrayBuffers;
  const error = await rejection(client.me());
  expect(error).toMatchObject({ code: "API_INVALID_RESPONSE" });
  expect((error as Error).message).toMatch(/longer than 8388608 bytes/);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(24 * 1024 * 1024);
});
