import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { BodyBudget } from "../faces/core.ts";
import { toNodeListener } from "../faces/receiver.ts";
import { sign } from "../faces/signature.ts";
import { ManualClock } from "../faces/testing.ts";
import { sum } from "./hostile-requests.ts";
import {
  apiKey,
  batchOf,
  delivery,
  limit,
  listening,
  makeRig,
  now,
  type Rig,
  secret,
  sendTo,
  socketFaces,
  streamTo,
} from "./support.ts";

const fresh = sign("some other body", secret, now);

async function sendHead(url: string, ...headers: readonly string[]): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  const lines = ["POST /webhook HTTP/1.1", "host: bot.test", ...headers, "", ""];
  socket.write(lines.join("\r\n"));
  return socket;
}

function answerOn(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      const code = /"code":"(\w+)"/.exec(text)?.[1];
      if (code !== undefined) resolve(`${text.split(" ")[1]} ${code}`);
    });
    socket.once("close", () => reject(new Error(`closed after ${JSON.stringify(text)}`)));
  });
}

const unread = [
  ["no signature", "x-other: 1", "400 SIGNATURE_MISSING"],
  ["a malformed signature", "x-service-signature: t=1", "400 SIGNATURE_MALFORMED"],
  [
    "a stale signature",
    `x-service-signature: ${sign("", secret, now - 301)}`,
    "400 SIGNATURE_STALE",
  ],
] as const;

describe.each(socketFaces)("over $name", (face) => {
  test.each(unread)(
    "a request is rejected before its body arrives: %s",
    async (_name, header, expected) => {
      const url = await face.listen(makeRig().endpoints);
      for (const body of ["content-length: 1000000", "transfer-encoding: chunked"]) {
        expect(await answerOn(await sendHead(url, header, body))).toBe(expected);
      }
    },
  );

  test("a body that stops is answered with 408, and its connection is closed", async () => {
    const url = await face.listen(makeRig({ timeoutMs: 50 }).endpoints);
    const signature = `x-service-signature: ${fresh}`;
    const socket = await sendHead(url, signature, "content-length: 1000");
    const gone = once(socket, "close");
    expect(await answerOn(socket)).toBe("408 BODY_TIMEOUT");
    await gone;
  });

  test("a body in tiny pieces is refused, and its connection is closed", async () => {
    const url = await face.listen(makeRig({ maxBodyBytes: 1_000_000 }).endpoints);
    const signature = `x-service-signature: ${fresh}`;
    const socket = await sendHead(url, signature, "transfer-encoding: chunked");
    const gone = once(socket, "close");
    // Slightly above the limit. At a longer body, the bot would close the connection, and the response could get lost.
    socket.write("1\r\nx\r\n".repeat(70_000));
    expect(await answerOn(socket)).toBe("400 BODY_FRAGMENTED");
    await gone;
  });

  test("beyond the byte limit, a genuine delivery replaces the oldest body", async () => {
    const rig: Rig = makeRig({ maxBodyBytes: 10_000, budget: new BodyBudget(30_000) });
    const url = await face.listen(rig.endpoints);
    const slow = Array.from({ length: 10 }, async () => {
      const signature = `x-service-signature: ${fresh}`;
      const socket = await sendHead(url, signature, "content-length: 10000");
      socket.write("x".repeat(9_999));
      return await answerOn(socket);
    });
    for (const one of slow) one.catch(() => undefined);
    await Promise.race(slow);
    const answer = await sendTo(url, delivery(batchOf("1")));
    expect(answer.status).toBe(200);
    expect(await Promise.race(slow)).toBe("503 BODIES_BUSY");
    expect(rig.budget.usedBytes).toBeLessThanOrEqual(30_000);
  });
});

test("a signature that becomes too old while its body arrives is refused as stale", async () => {
  let time = now * 1000;
  const clock = Object.assign(new ManualClock(), { now: () => time });
  const { endpoints, inbox } = makeRig({ clock });
  const bytes = Buffer.from(batchOf("1"));
  const answerAt = async (header: string) => {
    time = now * 1000;
    const body = new ReadableStream({
      pull(controller) {
        time += 2_000;
        controller.enqueue(bytes);
        controller.close();
      },
    });
    return sum(await streamTo(endpoints, body, { "x-service-signature": header }));
  };
  expect(await answerAt(sign(bytes, secret, now - 299))).toBe("400 SIGNATURE_STALE");
  expect(inbox.puts).toBe(0);
  expect(await answerAt(sign(bytes, secret, now - 298))).toBe("200 1 new");
});

describe("a body that the bot does not need", () => {
  test("in tiny chunks closes its connection while the store is queried", async () => {
    const asked = Promise.withResolvers<void>();
    const store = Promise.withResolvers<boolean>();
    onTestFinished(() => store.resolve(true));
    const isReady = () => {
      asked.resolve();
      return store.promise;
    };
    const url = await listening(toNodeListener(makeRig({}, { isReady }).endpoints));
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const gone = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => undefined).resume();
    socket.write("GET /readyz HTTP/1.1\r\nhost: bot.test\r\ntransfer-encoding: chunked\r\n\r\n");
    await asked.promise;
    socket.write("1\r\nx\r\n".repeat(100_000));
    await gone;
  });

  test.each(["/readyz", "/readyz?verbose"])("is read while %s asks the store", async (path) => {
    const seen: unknown[] = [];
    let request: IncomingMessage | undefined;
    const isReady = async () => seen.push(request?.readableFlowing) > 0;
    const health = { isReady, report: async () => ({ ready: await isReady() }) };
    const face = toNodeListener(makeRig({}, health).endpoints);
    const url = await listening((incoming, response) => {
      request = incoming;
      face(incoming, response);
    });
    const headers = { authorization: `Bearer ${apiKey}` };
    await sendTo(url, { path, headers, chunked: true, body: "x" });
    expect(seen).toEqual([true]);
  });

  test.each([
    ["POST", "/readyz"],
    ["POST", "/nowhere"],
    ["PUT", "/webhook"],
  ])("is cancelled for %s %s over web", async (method, path) => {
    const cancel = vi.fn();
    await streamTo(makeRig().endpoints, new ReadableStream({ cancel }), {}, { method, path });
    expect(cancel).toHaveBeenCalledOnce();
  });
});

describe("over web", () => {
  test.each([
    [408, "BODY_TIMEOUT", "x", { timeoutMs: 50 }],
    [413, "BODY_TOO_LARGE", "x".repeat(limit + 1), {}],
    [503, "BODIES_BUSY", "x", { budget: new BodyBudget(10) }],
  ] as const)(
    "a body that is given up is cancelled: %i %s",
    async (status, code, piece, options) => {
      const { endpoints, budget } = makeRig(options);
      const cancel = vi.fn();
      const start = (controller: ReadableStreamDefaultController) =>
        controller.enqueue(Buffer.from(piece));
      const body = new ReadableStream({ start, cancel });
      const answer = await streamTo(endpoints, body, { "x-service-signature": fresh });
      expect(sum(answer)).toBe(`${status} ${code}`);
      expect(answer.headers["retry-after"]).toBe(code === "BODIES_BUSY" ? "5" : undefined);
      expect(cancel).toHaveBeenCalledOnce();
      expect(budget.usedBytes).toBe(0);
    },
  );

  test.each(unread)("%s is refused before the body is read", async (_name, header, expected) => {
    let pulled = 0;
    const body = new ReadableStream(
      {
        pull: () => {
          pulled += 1;
        },
      },
      new CountQueuingStrategy({ highWaterMark: 0 }),
    );
    const [name = "", value = ""] = header.split(/: (.*)/s);
    expect(sum(await streamTo(makeRig().endpoints, body, { [name]: value }))).toBe(expected);
    expect(pulled).toBe(0);
  });
});
