import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import {
  appOf,
  createPlatform,
  type Extension,
  Extensions,
  type OpenExtension,
  startPlatform,
} from "../../faces/platform.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { logSink } from "../../support/log.ts";
import { runPlatform } from "../support/platform.ts";

/** Creates an extension at `/extra` that records its lifecycle. `before` can delay or fail `open`. */
function extra(before: (nth: number) => Promise<void> | void = () => {}) {
  const told = { opened: [] as string[], closed: 0 };
  const open: OpenExtension = {
    fetch: async ({ method }) => new Response(`extra ${method}`),
    close: async () => void told.closed++,
  };
  const extension: Extension = {
    path: "/extra",
    open: async (url) => {
      told.opened.push(url);
      await before(told.opened.length);
      return open;
    },
  };
  return { extension, told };
}

function failing(times: number) {
  return extra((nth) => {
    if (nth <= times) throw new Error("a file is missing");
  });
}

function ask({ url }: { url: string }, path = "/extra", method = "POST"): Promise<Response> {
  return fetch(`${url}${path}`, { method });
}

test("an extension is opened with the platform's origin by the first request, and not before", async () => {
  const { extension, told } = extra();
  const platform = await runPlatform({ extensions: [extension] });
  expect((await ask(platform, "/", "GET")).status).toBe(200);
  expect(told.opened).toEqual([]);
  expect(await (await ask(platform)).text()).toBe("extra POST");
  expect(told.opened).toEqual([platform.url]);
});

test.each(["/extra/", "/extra?a=b"])("%s is one of its paths too", async (path) => {
  const { extension } = extra();
  const platform = await runPlatform({ extensions: [extension] });
  expect(await (await ask(platform, path, "GET")).text()).toBe("extra GET");
});

test.each(["/extra/more", "/extra/more/", "/extra//", "/Extra", "/extras"])(
  "%s is unknown, and opens nothing",
  async (path) => {
    const { extension, told } = extra();
    const platform = await runPlatform({ extensions: [extension] });
    for (const method of ["GET", "POST"]) {
      const response = await ask(platform, path, method);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: "NOT_FOUND" } });
    }
    expect(told.opened).toEqual([]);
  },
);

test("it is opened only once for many concurrent requests", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { extension, told } = extra(() => promise);
  const platform = await runPlatform({ extensions: [extension] });
  const asked = Array.from({ length: 10 }, () => ask(platform));
  await expect.poll(() => told.opened).toHaveLength(1);
  resolve();
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(10).fill(200));
  expect((await ask(platform)).status).toBe(200);
  expect(told.opened).toHaveLength(1);
});

test("it is closed once, when the platform stops", async () => {
  const { extension, told } = extra();
  const platform = await startPlatform({ extensions: [extension] });
  await ask(platform);
  expect(told.closed).toBe(0);
  await platform.stop();
  await platform.stop();
  expect(told.closed).toBe(1);
});

test("an unused extension is neither opened nor closed", async () => {
  const { extension, told } = extra();
  const platform = await startPlatform({ extensions: [extension] });
  await platform.stop();
  expect(told).toEqual({ opened: [], closed: 0 });
});

test("a failure to open returns 500, is logged, and is retried on the next request", async () => {
  const { extension, told } = failing(2);
  const sink = logSink();
  const platform = await startPlatform({ extensions: [extension], logger: sink.log });
  for (const _ of [1, 2]) {
    const response = await ask(platform);
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      error: { code: "INTERNAL", message: "The local platform failed. Read its log." },
    });
  }
  expect(sink.records.filter(({ level }) => level === "error")).toMatchObject(
    Array(2).fill({ err: { message: "a file is missing" } }),
  );
  expect((await ask(platform)).status).toBe(200);
  expect(told.opened).toHaveLength(3);
  await platform.stop();
  expect(told.closed).toBe(1);
});

test("a response from the adapter itself has the usual headers", async () => {
  const { extension } = failing(2);
  const platform = await startPlatform({ extensions: [extension], logger: logSink().log });
  onTestFinished(() => platform.stop());
  platform.control.clock.set({ now: "2030-01-01T00:00:00Z", frozen: true });
  const { status, headers } = await ask(platform, "/extra", "HEAD");
  expect(status).toBe(500);
  const response = await ask(platform);
  const length = String((await response.arrayBuffer()).byteLength);
  for (const given of [headers, response.headers]) {
    expect(Object.fromEntries(given)).toMatchObject({
      "content-length": length,
      date: "Tue, 01 Jan 2030 00:00:00 GMT",
      "x-content-type-options": "nosniff",
    });
  }
});

test("all requests waiting for a failing open get 500, and the next requests retry once", async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  const { extension, told } = extra((nth) => (nth === 1 ? promise : undefined));
  const opened = new Extensions([extension], "http://platform.test");
  const platform = createPlatform();
  onTestFinished(() => platform.stop());
  const app = appOf({ platform, opened, allowHosts: [], logger: logSink().log, now: Date.now });
  let come = 0;
  const counting = createServer((request, response) => {
    app(request, response);
    come++;
  });
  const { url } = await listenUntilEnd(counting);
  const five = () => Promise.all(Array.from({ length: 5 }, () => ask({ url })));
  const asked = five();
  await expect.poll(() => come).toBe(5);
  reject(new Error("a file is missing"));
  expect((await asked).map(({ status }) => status)).toEqual(Array(5).fill(500));
  expect((await five()).map(({ status }) => status)).toEqual(Array(5).fill(200));
  expect(told.opened).toHaveLength(2);
});

test("the platform stops even if one extension could not be opened, and closes the others", async () => {
  const [broken, sound] = [failing(1), extra()];
  const extensions = [{ ...broken.extension, path: "/broken" }, sound.extension];
  const platform = await startPlatform({ extensions });
  expect((await ask(platform, "/broken")).status).toBe(500);
  expect((await ask(platform)).status).toBe(200);
  await platform.stop();
  expect([broken.told.closed, sound.told.closed]).toEqual([0, 1]);
});

test("the platform stops during an open that then fails", async () => {
  const { promise, reject } = Promise.withResolvers<void>();
  const { extension, told } = extra(() => promise);
  const platform = await startPlatform({ extensions: [extension] });
  const cut = expect(ask(platform)).rejects.toThrow();
  await expect.poll(() => told.opened).toHaveLength(1);
  const stopped = platform.stop();
  await cut;
  reject(new Error("a file is missing"));
  await stopped;
  expect(told.closed).toBe(0);
});
