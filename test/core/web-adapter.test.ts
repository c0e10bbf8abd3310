import { once } from "node:events";
import { createServer, type RequestOptions, request } from "node:http";
import { connect } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { BodyError, toNodeListener, type WebHandler } from "../faces/core.ts";
import { listenUntilEnd } from "../support/listen.ts";

async function serve(handle: WebHandler, onError: (error: unknown) => void = fail) {
  return await listenUntilEnd(createServer(toNodeListener(handle, onError)));
}

function fail(error: unknown): never {
  throw error;
}

test("a request arrives with its address, headers and body, and the answer with its own", async () => {
  const { url } = await serve(async (request) => {
    const { pathname, search } = new URL(request.url);
    const said = request.headers.get("x-said");
    const headers = new Headers({ "x-heard": `${said}` });
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2");
    const text = `${request.method} ${pathname}${search} ${await request.text()}`;
    return new Response(text, { status: 201, headers });
  });
  const headers = { "x-said": "hi" };
  const answer = await fetch(`${url}/a?b=c`, { method: "PUT", body: "x".repeat(3), headers });
  expect([answer.status, answer.headers.get("x-heard")]).toEqual([201, "hi"]);
  expect(answer.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(await answer.text()).toBe("PUT /a?b=c xxx");
});

test("an answer of no body ends", async () => {
  const { url } = await serve(async () => new Response(null, { status: 204 }));
  expect((await fetch(url)).status).toBe(204);
});

test.each<[string, RequestOptions]>([
  ["method", { method: "TRACE" }],
  ["Host", { headers: { host: "user:password@bot" } }],
  ["Host, with a body", { method: "POST", headers: { host: "user:password@bot" } }],
])("a request whose %s no web request can have is answered 400", async (_name, options) => {
  const errors: unknown[] = [];
  const { url } = await serve(
    async () => new Response("handled"),
    (error) => void errors.push(error),
  );
  const body = options.method === "POST" ? "x".repeat(200_000) : undefined;
  const asked = request(url, options).end(body);
  const [answer] = await once(asked, "response");
  answer.resume();
  expect([answer.statusCode, errors]).toEqual([400, []]);
});

test("a large body arrives whole", async () => {
  const { url } = await serve(async (request) => {
    return Response.json((await request.arrayBuffer()).byteLength);
  });
  const body = new Uint8Array(3_000_000);
  expect(await (await fetch(url, { method: "POST", body })).json()).toBe(body.length);
});

/** Sends a body in chunks of `size` bytes, and resolves to the response. */
async function sendInChunks(url: string, body: string, size = 1): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const head = `${size.toString(16)}\r\n`;
  let chunks = "";
  for (let at = 0; at < body.length; at += size)
    chunks += `${head}${body.slice(at, at + size)}\r\n`;
  socket.write(
    `POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
  );
  let answer = "";
  for await (const text of socket.setEncoding("utf8")) answer += text;
  return answer;
}

test.each([
  ["no reader waits for yet", 10],
  ["a reader waits for", 0],
])("pieces of one byte that %s come together, in their order", async (_name, turns) => {
  const body = "0123456789".repeat(500);
  const { url } = await serve(async (request) => {
    const pieces: Uint8Array[] = [];
    // After ten turns, the whole body has arrived.
    for (let count = 0; count < turns; count++) await turn();
    for await (const piece of request.body ?? []) pieces.push(piece);
    return Response.json([pieces.length, Buffer.concat(pieces).toString()]);
  });
  const answer = await sendInChunks(url, body);
  const [count, received] = JSON.parse(answer.slice(answer.indexOf("["), answer.indexOf("]") + 1));
  expect(received).toBe(body);
  expect(count).toBeLessThan(100);
});

test("a body in more than 65,536 small pieces fails to be read", async () => {
  const { url } = await serve(async (request) => {
    const error = await request.text().catch((reason: unknown) => reason);
    return Response.json(error instanceof BodyError ? error.problem : "read");
  });
  expect(await sendInChunks(url, "x".repeat(65_536))).toContain('"read"');
  expect(await sendInChunks(url, "x".repeat(65_537))).toContain('"fragmented"');
  expect(await sendInChunks(url, "x".repeat(65_537 * 512), 512)).toContain('"read"');
});

test("a sender whose body is refused receives the answer", async () => {
  const { url } = await serve(async (request) => {
    const reader = request.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    return new Response("too much", { status: 413 });
  });
  const answer = await fetch(url, { method: "POST", body: new Uint8Array(3_000_000) });
  expect([answer.status, await answer.text()]).toEqual([413, "too much"]);
});

test("a client that disconnects aborts its request and cancels the stream of its answer", async () => {
  const cancelled = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const { url } = await serve(async ({ signal }) => {
    signal.addEventListener("abort", () => aborted.resolve());
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
      cancel: () => cancelled.resolve(),
    });
    return new Response(body);
  });
  const leave = new AbortController();
  const answer = await fetch(url, { signal: leave.signal });
  expect(answer.status).toBe(200);
  leave.abort();
  await Promise.all([aborted.promise, cancelled.promise]);
});

test("a body that breaks off fails to be read", async () => {
  const failed = Promise.withResolvers<unknown>();
  const { port } = await serve(async (request) => {
    await request.text().catch(failed.resolve);
    return new Response();
  });
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc", () =>
    socket.destroy(),
  );
  expect(await failed.promise).toBeInstanceOf(TypeError);
});

test("a handler that throws is reported, and its connection closed", async () => {
  const errors: unknown[] = [];
  const { url } = await serve(
    () => Promise.reject(new Error("broken")),
    (error) => errors.push(error),
  );
  await expect(fetch(url)).rejects.toThrow();
  expect(errors).toMatchObject([{ message: "broken" }]);
});
