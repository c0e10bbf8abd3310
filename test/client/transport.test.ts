import { once } from "node:events";
import http from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { Client } from "../faces/client.ts";
import { apiKey, json, rejection, serve } from "./api.ts";
import { pngOf } from "./images/samples.ts";

test("a failed TLS handshake counts as not sent, and the remedy is named", async () => {
  const { url } = await serve(json(200, {}));
  const client = new Client({ baseUrl: url.replace("http:", "https:"), apiKey, retries: 0 });
  expect(await rejection(client.dms.send("c_1", { text: "hi" }))).toMatchObject({
    code: "API_UNREACHABLE",
    sent: false,
    message: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
  });
});

test("an abort ends a request that waits for a connection", async () => {
  const { maxSockets } = http.globalAgent;
  onTestFinished(() => {
    http.globalAgent.maxSockets = maxSockets;
  });
  http.globalAgent.maxSockets = 1;
  const asked = Promise.withResolvers<void>();
  const { client } = await serve(() => asked.resolve(), { timeoutMs: 60_000 });
  const [first, second] = [new AbortController(), new AbortController()];
  const sent = client.me({ signal: first.signal });
  await asked.promise;
  const waiting = client.me({ signal: second.signal });
  // By now, the request waits in the agent.
  await setImmediate();
  const reason = new Error("enough");
  second.abort(reason);
  expect(await rejection(waiting)).toBe(reason);
  first.abort(reason);
  await rejection(sent);
});

test("a response before the end of the request closes the connection", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.pause();
      socket.write("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\n{}");
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const client = new Client({ baseUrl: `http://127.0.0.1:${port}`, apiKey, retries: 0 });
  expect(await rejection(client.upload(pngOf(5_000_000)))).toMatchObject({ status: 413 });
  await vi.waitFor(() => {
    const { sockets, freeSockets } = http.globalAgent;
    const open = [...Object.keys(sockets), ...Object.keys(freeSockets)];
    expect(open.filter((name) => name.includes(`:${port}:`))).toEqual([]);
  });
});

test("asks for an uncompressed response", async () => {
  const { client, calls } = await serve(json(404, {}));
  await rejection(client.me());
  expect(calls[0]?.headers).toMatchObject({ "accept-encoding": "identity" });
});
