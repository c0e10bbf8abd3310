import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { bind } from "../faces/core.ts";

/** At the tenth connection, the server closes another one. */
const MAX_CONNECTIONS = 10;
const ROOM = 9;

const INCOMPLETE = "POST / HTTP/1.1\r\nhost: bot.test\r\ncontent-length: 9\r\n\r\nx";
const COMPLETE = "GET / HTTP/1.1\r\nhost: bot.test\r\n\r\n";

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  const { port } = await bind(server, "127.0.0.1", 0, { names: "", remedy: "" });
  server.maxConnections = MAX_CONNECTIONS;
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const open = async (text = ""): Promise<Socket> => {
    const accepted = once(server, "connection");
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => undefined);
    await accepted;
    socket.write(text);
    return socket;
  };
  return { server, url: `http://127.0.0.1:${port}`, port, open };
}

const answerOk: RequestListener = (request, response) => {
  request.resume();
  response.end("ok");
};

async function answerOn(socket: Socket): Promise<string> {
  const [chunk]: Buffer[] = await once(socket, "data");
  return String(chunk);
}

const closeOf = (socket: Socket) => {
  const gone = once(socket, "close");
  socket.resume();
  return gone;
};

test.each(["", INCOMPLETE.slice(0, 20), INCOMPLETE])(
  "stalled connections leave room for a genuine request (%j)",
  async (text) => {
    const { url, port } = await serve((request, response) => {
      request.resume().once("end", () => response.end("ok"));
    });
    for (let count = 0; count < 3 * MAX_CONNECTIONS; count++) {
      const socket = connect(port, "127.0.0.1");
      onTestFinished(() => void socket.destroy());
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.write(text);
    }
    const answer = await fetch(url, { method: "POST", body: "genuine" });
    expect(answer.status).toBe(200);
  },
);

test("a connection that idles gives way before the oldest without a complete request", async () => {
  const { open } = await serve(answerOk);
  const oldest = await open();
  const idle = await open();
  const answered = answerOn(idle);
  idle.write(COMPLETE);
  expect(await answered).toContain(" 200 ");
  for (let count = 2; count < ROOM; count++) await open();
  const idleGone = closeOf(idle);
  await open();
  await idleGone;
  expect(oldest.destroyed).toBe(false);
  const oldestGone = closeOf(oldest);
  await open();
  await oldestGone;
});

test("a complete request gets its answer however many connections come", async () => {
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const { open } = await serve(async (_request, response) => {
    begun.resolve();
    await held.promise;
    response.end("ok");
  });
  const served = await open();
  const answered = answerOn(served);
  served.write(COMPLETE);
  await begun.promise;
  for (let count = 0; count < 3 * MAX_CONNECTIONS; count++) await open();
  held.resolve();
  expect(await answered).toContain(" 200 ");
});

test("connections that were closed take no room", async () => {
  const { server, open } = await serve(answerOk);
  const first = await open();
  for (let count = 0; count < 3 * MAX_CONNECTIONS; count++) {
    const accepted = once(server, "connection");
    const socket = await open();
    const [own]: Socket[] = await accepted;
    const gone = own && once(own.resume(), "close");
    socket.destroy();
    await gone;
  }
  const answered = answerOn(first);
  first.write(COMPLETE);
  expect(await answered).toContain(" 200 ");
});
