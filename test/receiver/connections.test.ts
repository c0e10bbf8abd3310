import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { toFetch } from "../faces/receiver.ts";
import { sign } from "../faces/signature.ts";
import { listenTo } from "../support/channels.ts";
import { sum } from "./hostile-requests.ts";
import {
  batchOf,
  delivery,
  errorIn,
  makeRig,
  now,
  type Send,
  type SocketFace,
  secret,
  sendTo,
  socketFaces,
  streamTo,
} from "./support.ts";

function head(body: string, length: number = Buffer.byteLength(body)): string {
  return [
    "POST /webhook HTTP/1.1",
    "host: bot.test",
    "content-type: application/json",
    `content-length: ${length}`,
    `x-service-signature: ${sign(body, secret, now)}`,
    "\r\n",
  ].join("\r\n");
}

async function open(face: SocketFace, rig = makeRig()) {
  const url = await face.listen(rig.endpoints);
  const send: Send = (request) => sendTo(url, request);
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return { ...rig, send, socket };
}

async function firstLine(socket: Socket): Promise<string> {
  const [chunk]: Buffer[] = await once(socket, "data");
  return String(chunk).split("\r\n", 1)[0] ?? "";
}

/** Reads a single chunk of a body, then releases the reader. */
async function takePiece({ body }: Request): Promise<void> {
  const reader = body?.getReader();
  await reader?.read();
  reader?.releaseLock();
}

describe.each(socketFaces)("over $name", (face) => {
  test("after a body over the limit the connection serves the next delivery, so a proxy passes the 413 on", async () => {
    const { socket, inbox } = await open(face);
    const large = "x".repeat(100_000);
    const refused = firstLine(socket);
    socket.write(head(large));
    expect(await refused).toContain(" 413 ");
    const accepted = firstLine(socket);
    socket.write(large + head(batchOf("1")) + batchOf("1"));
    expect(await accepted).toContain(" 200 ");
    expect(inbox.stored.size).toBe(1);
  });

  test("a body that comes byte by byte is a body", async () => {
    const { socket, inbox } = await open(face);
    const body = batchOf("1");
    const answer = firstLine(socket);
    socket.setNoDelay(true);
    socket.write(head(body));
    for (const byte of body) {
      socket.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await answer).toContain(" 200 ");
    expect(inbox.stored.size).toBe(1);
  });

  test("others are answered while a slow body is awaited", async () => {
    const { socket, send, inbox } = await open(face);
    const body = batchOf("slow");
    const answer = firstLine(socket);
    socket.write(head(body) + body.slice(0, 10));
    expect((await send(delivery(batchOf("quick")))).status).toBe(200);
    expect([...inbox.stored.keys()]).toEqual(["quick"]);
    socket.write(body.slice(10));
    expect(await answer).toContain(" 200 ");
    expect([...inbox.stored.keys()]).toEqual(["quick", "slow"]);
  });

  test("a connection that breaks off inside a body stores nothing, and others continue", async () => {
    const refused = Promise.withResolvers<string>();
    const bot = {};
    listenTo(bot, {
      delivery: ({ code }) => code !== undefined && refused.resolve(code),
    });
    const rig = makeRig({ bot });
    const { socket, send, inbox } = await open(face, rig);
    socket.write(head(batchOf("1")) + batchOf("1").slice(0, 10));
    // The response to a later request proves that the server has begun to read this one.
    await send(delivery(batchOf("2")));
    socket.resetAndDestroy();
    expect(await refused.promise).toBe("BODY_INCOMPLETE");
    expect((await send(delivery(batchOf("3")))).status).toBe(200);
    expect([...inbox.stored.keys()]).toEqual(["2", "3"]);
  });
});

describe("over web", () => {
  test("a body that breaks off is refused with 400, and nothing is stored", async () => {
    const { endpoints, inbox, lines } = makeRig();
    const body = batchOf("1");
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(Buffer.from(body.slice(0, 10)));
        controller.error(new Error("the sender went away"));
      },
    });
    const headers = { "x-service-signature": sign(body, secret, now) };
    expect(sum(await streamTo(endpoints, stream, headers))).toBe("400 BODY_INCOMPLETE");
    expect(inbox.puts).toBe(0);
    expect(lines()).toMatchObject([{ level: "warn", code: "BODY_INCOMPLETE" }]);
  });

  test.each([
    ["read to its end", (request: Request) => request.json()],
    ["begun and left", takePiece],
  ])("a body that was %s before is refused with 500", async (_name, read) => {
    const { endpoints, inbox } = makeRig();
    const body = batchOf("1");
    const headers = { "x-service-signature": sign(body, secret, now) };
    const request = new Request("http://bot.test/webhook", { method: "POST", body, headers });
    await read(request);
    const answer = await toFetch(endpoints)(request);
    expect(answer.status).toBe(500);
    const error = errorIn({ status: 500, headers: {}, text: await answer.text() });
    expect(error.code).toBe("BODY_ALREADY_PARSED");
    expect(inbox.puts).toBe(0);
  });
});
