import { expect, onTestFinished, test } from "vitest";
import { createPlatform, type PlatformOptions } from "../faces/platform.ts";
import { act } from "./support/platform.ts";

function make(options: PlatformOptions = {}) {
  const platform = createPlatform(options);
  onTestFinished(() => platform.stop());
  const headers = {
    authorization: `Bearer ${platform.apiKey}`,
    "content-type": "application/json",
  };
  const call = (path: string, init: RequestInit = {}) =>
    platform.fetch(`${platform.url}/api/v1${path}`, { ...init, headers });
  return { platform, call };
}

test("a request gets a response without a port", async () => {
  const { call } = make();
  const made = await call("/posts", { method: "POST", body: JSON.stringify({ text: "hi" }) });
  expect(made.status).toBe(201);
  const { id } = (await made.json()) as { id: string };
  expect(await (await call(`/posts/${id}`)).json()).toMatchObject({ id, text: "hi" });
});

test("deliveries go to a function, signed", async () => {
  const came: Request[] = [];
  const { platform } = make({
    fetch: async (request) => {
      came.push(request.clone());
      return new Response("thanks");
    },
  });
  platform.control.saveWebhook({ url: "http://localhost/webhook" });
  const [event] = act(platform, "follow").events;
  const { id, status } = await platform.waitFor("delivery");
  expect(status).toBe(200);
  expect(await came[0]?.json()).toEqual({ events: [event] });
  expect(came[0]?.headers.get("x-service-signature")).toMatch(/^t=\d+,v1=[\da-f]{64}$/);
  expect((await platform.control.delivery(id)).response?.body).toBe("thanks");
});

test("an endpoint that throws, and one without a response, fail their delivery", async () => {
  const { platform } = make({
    deliveryTimeoutMs: 5,
    fetch: ({ headers }) =>
      headers.get("x-service-event-count") === "1"
        ? Promise.reject(new Error("the bot broke"))
        : Promise.withResolvers<Response>().promise,
  });
  platform.control.saveWebhook({ url: "http://localhost/webhook" });
  act(platform, "follow");
  expect(await platform.waitFor("delivery")).toMatchObject({
    status: null,
    error: "the bot broke",
  });
  platform.control.saveWebhook({ enabled: false });
  const { events } = act(platform, "follow", { count: 2 });
  platform.control.saveWebhook({ enabled: true });
  const forced = await platform.control.deliver({ eventIds: events.map(({ id }) => id) });
  expect(forced).toMatchObject([{ status: null, error: "no response within 5 ms" }]);
});

test("a lost response rejects like a cut connection, and the request is executed", async () => {
  const { platform, call } = make();
  platform.control.setFaults({ api: { mode: "lose-answer", times: 1 } });
  const lost = call("/posts", { method: "POST", body: JSON.stringify({ text: "once" }) });
  await expect(lost).rejects.toMatchObject({ name: "TypeError", cause: { code: "ECONNRESET" } });
  expect(platform.control.posts().items[0]).toMatchObject({ text: "once" });
});

test("a held request ends when its signal aborts, and when the platform stops", async () => {
  const { platform, call } = make();
  platform.control.setFaults({ api: { mode: "hold" } });
  const abort = new AbortController();
  const given = call("/me", { signal: abort.signal });
  const stopped = call("/me");
  abort.abort(new Error("no longer wanted"));
  await expect(given).rejects.toThrow("no longer wanted");
  await platform.stop();
  await expect(stopped).rejects.toThrow("fetch failed");
  await expect(call("/me")).rejects.toThrow("fetch failed");
});

test("the control API needs its token even in process, and the date is the platform's", async () => {
  const { platform } = make();
  platform.control.clock.set({ now: "2030-01-31T00:00:00.000Z", frozen: true });
  const path = `${platform.url}/control/v1/state`;
  expect((await platform.fetch(path)).status).toBe(401);
  const headers = { "x-control-token": platform.controlToken };
  const answer = await platform.fetch(path, { headers });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("date")).toBe("Thu, 31 Jan 2030 00:00:00 GMT");
});
