import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Bot } from "../../src/index.ts";
import { listen } from "../faces/core.ts";
import { toNodeListener } from "../faces/receiver.ts";
import { sign } from "../faces/signature.ts";
import { ManualClock } from "../faces/testing.ts";
import { logSink } from "../support/log.ts";
import {
  batches,
  encodings,
  endless,
  MEBIBYTE,
  methods,
  one,
  paths,
  protocols,
  shapes,
  signatures,
  sizes,
  sum,
} from "./hostile-requests.ts";
import {
  apiKey,
  makeRig,
  now,
  secret,
  sendTo,
  type TestAnswer,
  type TestRequest,
} from "./support.ts";

const answered: string[] = [];
const broken: unknown[] = [];
const handled: string[] = [];
const note = (error: unknown): void => void broken.push(error);
const log = logSink();
let bot: Bot;

beforeAll(async () => {
  process.on("unhandledRejection", note).on("uncaughtException", note);
  bot = new Bot({
    env: {},
    baseUrl: "http://platform.test",
    apiKey,
    webhookSecret: secret,
    databaseUrl: "file::memory:",
    delivery: "webhook",
    port: 0,
    maxBodyBytes: MEBIBYTE,
    clock: new ManualClock(now * 1000),
    logger: log.log,
    fetch: async () => Response.json({ username: "bot" }),
  });
  bot.on("follow", (ctx) => void handled.push(ctx.event.id));
  await bot.start({ standalone: false });
});

afterAll(async () => {
  await bot.stop();
  process.off("unhandledRejection", note).off("uncaughtException", note);
});

/** Opens a connection. `heard` resolves to all received text once the connection has been closed or reset. */
function dial(url: string): { readonly socket: Socket; readonly heard: Promise<string> } {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => void chunks.push(chunk)).on("error", () => undefined);
  const heard = new Promise<string>((resolve) => {
    socket.once("close", () => resolve(String(Buffer.concat(chunks))));
  });
  return { socket, heard };
}

/** Sends these bytes and reads the response. If `ends` is true, half-closes the connection after sending. */
async function say(url: string, bytes: Buffer, ends: boolean): Promise<TestAnswer> {
  const { socket, heard } = dial(url);
  socket.write(bytes);
  if (ends) socket.end();
  const all = (await heard).replace("HTTP/1.1 100 Continue\r\n\r\n", "");
  const [head = "", rest = ""] = all.split("\r\n\r\n");
  // A chunked body with only the last chunk is empty.
  const text = rest === "0" ? "" : rest;
  return { status: Number(head.split(" ")[1]), headers: { all }, text };
}

async function ask(url: string, request: TestRequest | Buffer, ends = true): Promise<string> {
  const answer = Buffer.isBuffer(request)
    ? await say(url, request, ends)
    : await sendTo(url, request);
  answered.push(JSON.stringify(answer));
  return sum(answer);
}

describe.each([
  ["signatures", signatures],
  ["bodies", shapes],
  ["batches", batches],
  ["encodings and lengths", encodings],
  ["sizes", sizes],
  ["methods and content types", methods],
  ["paths", paths],
  ["protocols", protocols],
])("hostile %s", (_name, rows) => {
  test.each(rows)("%s", async (_row, request, answer) => {
    expect(await ask(bot.url ?? "", request)).toBe(answer);
  });
});

async function impatient() {
  const { endpoints, inbox } = makeRig();
  const server = await listen(toNodeListener(endpoints), "127.0.0.1", 0, { requestTimeoutMs: 200 });
  onTestFinished(() => server.close());
  return { url: server.url, inbox };
}

describe("requests that never end", () => {
  test.each(endless)("%s is cut off", async (_row, bytes, answer) => {
    const { url, inbox } = await impatient();
    expect(await ask(url, bytes, false)).toBe(answer);
    expect(await ask(url, one("afterwards"))).toBe("200 1 new");
    expect([...inbox.stored.keys()]).toEqual(["afterwards"]);
  });

  test("a body that trickles is cut off too", async () => {
    const { url, inbox } = await impatient();
    const { socket, heard } = dial(url);
    const signature = `x-service-signature: ${sign("", secret, now)}`;
    const head = ["POST /webhook HTTP/1.1", "host: bot.test", "content-length: 2000", signature];
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    const drops = setInterval(() => socket.write("x"), 10);
    onTestFinished(() => clearInterval(drops));
    // The response may get lost if the server closes the connection.
    expect(await heard).toMatch(/^(HTTP\/1\.1 408 |$)/);
    expect(inbox.puts).toBe(0);
  });
});

describe("after all of that", () => {
  test("no response contains a stack trace, a path or a secret", () => {
    expect(answered.length).toBeGreaterThan(200);
    for (const answer of answered) {
      expect(answer).not.toMatch(/\bat .*:\d+:\d+|node_modules|file:|\/src\/|Error:/);
      for (const hidden of [secret, apiKey]) expect(answer).not.toContain(hidden);
    }
    for (const hidden of [secret, apiKey]) expect(log.text()).not.toContain(hidden);
  });

  test("no uncaught error, and no changed prototype", () => {
    expect(broken).toEqual([]);
    expect("polluted" in {}).toBe(false);
  });

  test("the bot takes a good delivery and handles it", async () => {
    expect(await ask(bot.url ?? "", one("the last one"))).toBe("200 1 new");
    await bot.idle();
    expect(handled).toContain("the last one");
    expect(handled).not.toContain("good");
  });
});
