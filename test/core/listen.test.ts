import { once } from "node:events";
import { Agent, get, type RequestListener, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Listening, listen } from "../faces/core.ts";
import { ServiceBotError } from "../faces/errors.ts";

async function open(listener: RequestListener, host = "127.0.0.1", port = 0): Promise<Listening> {
  const server = await listen(listener, host, port);
  onTestFinished(() => server.close());
  return server;
}

async function dial({ url }: Listening): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

const hello: RequestListener = (_request, response) => void response.end("hello");

describe("listening", () => {
  test("port 0 takes a free port, which is in the URL", async () => {
    const { url } = await open(hello);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/);
    expect(await (await fetch(url)).text()).toBe("hello");
  });

  test("an IPv6 host is in brackets", async ({ skip }) => {
    const server = await open(hello, "::1").catch(() => skip("no IPv6 here"));
    expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  });

  test("a port that is taken is refused with the remedy", async () => {
    const { url } = await open(hello);
    const port = Number(new URL(url).port);
    const error: unknown = await listen(hello, "127.0.0.1", port).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ServiceBotError);
    expect(error).toMatchObject({ code: "ADDRESS_IN_USE" });
    expect((error as Error).message).toMatch(new RegExp(`${port}.*PORT`));
  });
});

test("a client that closes its side of the connection gets the response", async () => {
  const server = await open(async (request, response) => {
    await once(request.socket, "end");
    response.end("hello");
  });
  const socket = await dial(server);
  socket.end("GET / HTTP/1.1\r\nhost: bot\r\n\r\n");
  expect(await text(socket)).toContain("hello");
});

async function askTwice() {
  const running = new Map<string | undefined, ServerResponse>();
  const both = Promise.withResolvers<void>();
  const server = await open((request, response) => {
    running.set(request.url, response);
    if (running.size === 2) both.resolve();
  });
  const answers = ["/1", "/2"].map(async (path) => await (await fetch(server.url + path)).text());
  await both.promise;
  const finish = async (path: string) => {
    const response = running.get(path)?.end("done");
    if (response?.closed === false) await once(response, "close");
    await passTimers();
  };
  return { server, answers, finish };
}

/** Waits until every earlier one-millisecond timer has fired. */
async function passTimers(): Promise<void> {
  await setTimeout(2);
}

describe("connections", () => {
  test("the end of a request cuts no other", async () => {
    const { answers, finish } = await askTwice();
    await finish("/1");
    await finish("/2");
    expect(await Promise.all(answers)).toEqual(["done", "done"]);
  });

  test("a connection serves one request after the other", async () => {
    const server = await open(hello);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const ask = async () => {
      const request = get(server.url, { agent });
      const [response] = await once(request, "response");
      await once(response.resume(), "end");
      await passTimers();
      return request.reusedSocket;
    };
    expect([await ask(), await ask()]).toEqual([false, true]);
  });
});

/** Grace period in ms, longer than any test. */
const LONG = 3_600_000;

describe("closing", () => {
  test("lets a running request finish, and does not wait for the next one on its connection", async () => {
    const asked = Promise.withResolvers<() => void>();
    const server = await open((_request, response) => asked.resolve(() => response.end("done")));
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const answer = new Promise<string>((resolve, reject) => {
      get(server.url, { agent }, (response) => {
        response.setEncoding("utf8").once("data", resolve);
      }).on("error", reject);
    });
    const finish = await asked.promise;
    const closed = server.close(LONG);
    await passTimers();
    finish();
    expect(await answer).toBe("done");
    await closed;
  });

  test("leaves the other requests running when one ends", async () => {
    const { server, answers, finish } = await askTwice();
    const closed = server.close(LONG);
    await finish("/1");
    await finish("/2");
    expect(await Promise.all(answers)).toEqual(["done", "done"]);
    await closed;
  });

  test("ends connections that are idle between two requests", async () => {
    const server = await open(hello);
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    await new Promise((resolve) =>
      get(server.url, { agent }, (response) => response.resume().on("end", resolve)),
    );
    await server.close(LONG);
  });

  test("ends connections on which nothing was ever asked", async () => {
    const server = await open(hello);
    const socket = await dial(server);
    // The response to a later connection proves that the server has accepted this one.
    await fetch(server.url, { headers: { connection: "close" } });
    const gone = once(socket.resume(), "close");
    await server.close(LONG);
    await gone;
  });

  test("does not wait for the rest of a request that never comes", async () => {
    const begun = Promise.withResolvers<void>();
    const server = await open(() => begun.resolve());
    const socket = await dial(server);
    socket.write("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf");
    await begun.promise;
    const gone = once(socket.resume(), "close");
    await server.close(50);
    await gone;
  });

  test("takes no new connections", async () => {
    const server = await open(hello);
    expect((await fetch(server.url)).status).toBe(200);
    await server.close();
    await expect(fetch(server.url)).rejects.toThrow();
  });

  test("twice is closing once", async () => {
    const server = await open(hello);
    await Promise.all([server.close(), server.close()]);
  });
});

test.each(["999.1.1.1", "192.0.2.1"])(
  "an address that is not this machine's is a problem of the configuration: %s",
  async (host) => {
    await expect(listen(() => undefined, host, 0)).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      problems: [expect.stringContaining(`HOST, PORT: cannot listen on ${host}`)],
    });
  },
);
