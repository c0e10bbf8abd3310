import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import type { CallRecord, EntryOf, EventTrace, Platform } from "../../faces/platform.ts";
import { CallRecords, createPlatform, type EndedCall, Timeline } from "../../faces/platform.ts";
import { ManualClock } from "../support/clock.ts";
import { image } from "../support/images.ts";
import { act, deliveryOf, ids, request, runPlatform } from "../support/platform.ts";
import { runReceiver } from "../support/receiver.ts";

async function call(
  platform: Platform,
  path: string,
  init: RequestInit = {},
): Promise<{ entry: EntryOf<"api">; record: CallRecord }> {
  const after = platform.control.state().timelineSeq;
  const authorization = `Bearer ${platform.apiKey}`;
  const headers = { authorization, ...Object.fromEntries(new Headers(init.headers)) };
  const answer = await fetch(`${platform.url}/api/v1${path}`, { ...init, headers }).catch(
    () => undefined,
  );
  await answer?.arrayBuffer();
  const entry = await platform.waitFor("api", undefined, { after });
  const { body } = await request<CallRecord>(platform, "GET", `/control/v1/calls/${entry.id}`);
  expect(platform.control.call(entry.id)).toEqual(body);
  return { entry, record: body };
}

const json = { "content-type": "application/json" };

test("a call shows its request and response", async () => {
  const platform = await runPlatform();
  const body = '{ "text": "news" }';
  const { entry, record } = await call(platform, "/posts?x=1", {
    method: "POST",
    headers: json,
    body,
  });
  expect(entry).toMatchObject({ id: "call_1", created: { postId: "p_2" } });
  expect(record).toMatchObject({
    id: "call_1",
    bot: "bot",
    method: "POST",
    path: "/posts",
    status: 201,
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    ms: expect.any(Number),
    request: { url: `${platform.url}/api/v1/posts?x=1`, headers: json, body, truncated: false },
    response: {
      status: 201,
      headers: { "content-type": "application/json; charset=utf-8" },
      truncated: false,
    },
  });
  expect(JSON.parse(record.response?.body ?? "")).toMatchObject({ id: "p_2", text: "news" });
  expect(record).not.toHaveProperty("eventId");
});

test("a rejected request is shown unchanged, even if it is not JSON", async () => {
  const platform = await runPlatform();
  const { record } = await call(platform, "/posts", { method: "POST", headers: json, body: "{no" });
  expect(record).toMatchObject({ status: 400, request: { body: "{no" } });
  const long = JSON.stringify({ text: "é".repeat(300_000) });
  const part = (await call(platform, "/posts", { method: "POST", headers: json, body: long }))
    .record;
  expect(part.request).toMatchObject({ truncated: true });
  expect(Buffer.byteLength(part.request.body)).toBeLessThanOrEqual(64 * 1024);
  expect(long.startsWith(part.request.body)).toBe(true);
  const huge = "x".repeat(1024 * 1024 + 1);
  const unread = await call(platform, "/posts", { method: "POST", headers: json, body: huge });
  expect(unread.record.request).toMatchObject({
    body: "(not kept: application/json, 1048577 bytes)",
    truncated: true,
  });
});

test("a record contains only the end of a token", async () => {
  const platform = await runPlatform();
  const { apiKey } = platform;
  const { record } = await call(platform, `/feed?token=${apiKey}`, {
    headers: { cookie: "session=1234567890abcdef", "x-note": `I am ${apiKey}` },
  });
  expect(record.request.headers).toMatchObject({
    authorization: `Bearer …${apiKey.slice(-4)}`,
    cookie: "…cdef",
    "x-note": "I am [redacted]",
  });
  const text = JSON.stringify({ text: `my key is ${apiKey}` });
  const said = await call(platform, "/posts?", { method: "POST", headers: json, body: text });
  expect(said.record.request.body).toBe('{"text":"my key is [redacted]"}');
  expect(JSON.stringify([record, said.record.request])).not.toContain(apiKey);
  const wrong = await call(platform, "/me", { headers: { authorization: "Bearer sbk_short" } });
  expect(wrong.record).toMatchObject({
    status: 401,
    request: { headers: { authorization: "Bearer …" } },
  });
  expect(wrong.record).not.toHaveProperty("bot");
});

test("a record has the size of an upload, and not its bytes", async () => {
  const platform = await runPlatform();
  const form = new FormData();
  form.set("file", new Blob([await image()]), "a.png");
  const { record } = await call(platform, "/uploads", { method: "POST", body: form });
  expect(record).toMatchObject({ status: 200, request: { truncated: true } });
  expect(record.request.body).toMatch(/^\(not kept: multipart\/form-data; .*, \d+ bytes\)$/);
  expect(record.response?.body).toContain("/media/");
});

test("a response lost by a fault is in the record, and a response that was never made is not", async () => {
  const platform = await runPlatform();
  platform.control.setFaults({ api: { mode: "lose-answer", match: "write", times: 1 } });
  const post = { method: "POST", headers: json, body: '{"text":"lost"}' };
  const { record } = await call(platform, "/posts", post);
  expect(record).toMatchObject({ status: null, fault: "lose-answer", response: { status: 201 } });
  platform.control.setFaults({ api: { mode: "hold", times: 1 } });
  const gone = new AbortController();
  const after = platform.control.state().timelineSeq;
  void platform
    .waitFor("fault", ({ change }) => change === "held", { after })
    .then(() => gone.abort());
  const held = await call(platform, "/me", { signal: gone.signal });
  expect(held.record).toMatchObject({ status: null, fault: "hold", response: null });
});

test("a call belongs to the event that it names, if the event is the bot's", async () => {
  const platform = await runPlatform();
  const { apiKey } = platform.control.apps.create({ username: "helper" });
  const [id = ""] = ids(act(platform, "follow"));
  const named = { "x-service-event": id };
  const { entry, record } = await call(platform, "/me", { headers: named });
  expect(entry).toMatchObject({ eventId: id });
  expect(record).toMatchObject({ eventId: id });
  expect(record).not.toHaveProperty("guessed");
  const { body } = await request<EventTrace>(platform, "GET", `/control/v1/events/${id}`);
  const { request: _, response: __, ...summary } = record;
  expect(body.calls).toEqual([summary]);
  for (const [headers, why] of [
    [{ ...named, authorization: `Bearer ${apiKey}` }, "of another bot"],
    [{ "x-service-event": "evt_000000000099" }, "not there"],
    [{ "x-service-event": "hello" }, "no id"],
  ] as const) {
    expect((await call(platform, "/me", { headers })).entry, why).not.toHaveProperty("eventId");
  }
});

test("a request that a fault rejects or holds belongs to its event too, and so does the entry for the wait", async () => {
  const platform = await runPlatform();
  const [id = ""] = ids(act(platform, "follow"));
  const headers = { "x-service-event": id };
  const sender = { bot: "bot", eventId: id };
  platform.control.setFaults({ api: { mode: "status", times: 1 } });
  expect((await call(platform, "/me", { headers })).entry).toMatchObject({
    ...sender,
    status: 503,
  });
  for (const mode of ["hold", "slow"] as const) {
    const after = platform.control.state().timelineSeq;
    platform.control.setFaults({ api: { mode, times: 1, delayMs: 60_000 } });
    const gone = new AbortController();
    const waits = platform.waitFor("fault", ({ change }) => change === "held", { after });
    void waits.then(() => gone.abort());
    const { entry } = await call(platform, "/me", { headers, signal: gone.signal });
    expect(entry).toMatchObject({ ...sender, status: null, fault: mode });
    expect(await waits).toMatchObject({ detail: "GET /me", eventId: id });
  }
});

test("otherwise the event is guessed: the newest one in the same place that the bot has received", async () => {
  const platform = await runPlatform();
  const dm = act(platform, "dm.message");
  const { conversationId } = dm;
  const [first = ""] = ids(dm);
  const path = `/dm/conversations/${conversationId}/messages`;
  const answer = { method: "POST", headers: json, body: '{"text":"hi"}' };
  // The bot has not received the event yet.
  expect((await call(platform, path, answer)).entry).not.toHaveProperty("eventId");
  await call(platform, "/events");
  const guess = async (where = path) => (await call(platform, where, answer)).entry;
  expect(await guess()).toMatchObject({ eventId: first, guessed: true });
  // Call the API during the delivery of the event.
  const inside: unknown[] = [];
  const receiver = await runReceiver((response) => {
    void guess().then((entry) => {
      inside.push(entry.eventId);
      response.writeHead(200).end();
    });
  });
  platform.control.saveWebhook({ url: receiver.url });
  const [second = ""] = ids(act(platform, "dm.message"));
  await deliveryOf(platform, second);
  expect(inside).toEqual([second]);
  platform.control.saveWebhook({ enabled: false });
  const [quote = ""] = ids(act(platform, "quote"));
  await call(platform, "/events?since=" + second);
  expect(await guess("/posts/p_1/comments")).toMatchObject({ eventId: quote, guessed: true });
  expect(await guess("/posts/p_2/comments")).toMatchObject({ eventId: quote, guessed: true });
  expect(await guess()).toMatchObject({ eventId: second });
  expect(platform.control.event(second).calls.map(({ guessed }) => guessed)).toEqual([true, true]);
  platform.control.reset();
  expect(await guess("/posts/p_1/comments")).not.toHaveProperty("eventId");
});

test("a guess uses the place of an event, and not ids deeper in its payload", async () => {
  const platform = await runPlatform();
  const answer = { method: "POST", headers: json, body: '{"text":"hi"}' };
  const [like = ""] = ids(act(platform, "like"));
  const actor = { username: "ada", name: "Ada", postId: "p_1" };
  const related = [{ conversationId: "c_1" }, { entityId: "p_1" }];
  const [other] = ids(act(platform, "future", { payload: { actor, related, note: null } }));
  expect(other).toBeDefined();
  await call(platform, "/events");
  const { entry } = await call(platform, "/posts/p_1/comments", answer);
  expect(entry).toMatchObject({ eventId: like, guessed: true });
});

function endedCall(method: string, bytes: number): EndedCall {
  const request = { url: "http://127.0.0.1/", headers: new Headers() };
  const entry = { bot: "bot", method, path: "/posts", ms: 1, status: 201 };
  return { entry, at: 0, request, body: Buffer.alloc(bytes, "x"), answer: undefined };
}

function countKept(records: CallRecords, added: number): number {
  const numbers = Array.from({ length: added }, (_, index) => added - index);
  const gone = numbers.findIndex((number) => records.find(`call_${number}`) === undefined);
  expect(numbers.slice(gone).every((number) => records.find(`call_${number}`) === undefined)).toBe(
    true,
  );
  return gone;
}

test("the newest 1,000 calls are kept, up to 16 MB", () => {
  const small = new CallRecords(new Timeline(new ManualClock()));
  for (let n = 0; n < 1_100; n += 1) small.add(endedCall("POST", 10));
  expect(countKept(small, 1_100)).toBe(1_000);
  const large = new CallRecords(new Timeline(new ManualClock()));
  for (let n = 0; n < 300; n += 1) large.add(endedCall("POST", 64 * 1024));
  // Each counts as one kilobyte plus its URL.
  expect(countKept(large, 300)).toBe(251);
});

test("the texts of a call count as two bytes per character, in the request and in the response", () => {
  const heads = new CallRecords(new Timeline(new ManualClock()));
  const headers = new Headers({ "x-note": "x".repeat(32 * 1024) });
  const longHead = { url: "http://127.0.0.1/", headers };
  for (let n = 0; n < 300; n += 1) heads.add({ ...endedCall("POST", 0), request: longHead });
  expect(countKept(heads, 300)).toBe(251);
  const answers = new CallRecords(new Timeline(new ManualClock()));
  const answer = { status: 200, headers: {}, body: "x".repeat(1024 * 1024) };
  for (let n = 0; n < 200; n += 1) answers.add({ ...endedCall("POST", 0), answer });
  expect(countKept(answers, 200)).toBe(126);
});

test("the first 64 KB of a response are kept, without a split character", () => {
  const records = new CallRecords(new Timeline(new ManualClock()));
  const body = `x${"é".repeat(64 * 1024)}`;
  const answer = { status: 200, headers: {}, body };
  records.add({ ...endedCall("POST", 0), answer });
  const { response } = records.find("call_1") ?? {};
  expect(response).toMatchObject({ status: 200, truncated: true });
  expect(Buffer.byteLength(response?.body ?? "")).toBe(64 * 1024 - 1);
  expect(body.startsWith(response?.body ?? "-")).toBe(true);
});

test("a request's memory is released once it has a response", async () => {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect !== "function") throw new Error("there is no garbage collector");
  const platform = createPlatform();
  onTestFinished(() => platform.stop());
  // Send the request inside a callback, because a variable in the test would keep it alive.
  const answered = await (async () => {
    const headers = { ...json, authorization: `Bearer ${platform.apiKey}` };
    const init = { method: "POST", headers, body: '{"text":"news"}' };
    const asked = new Request(`${platform.url}/api/v1/posts`, init);
    const gone = new AbortController();
    await platform.respond(asked, gone.signal);
    return new WeakRef(asked);
  })();
  await setImmediate();
  collect();
  expect(answered.deref()).toBeUndefined();
  expect(platform.control.call("call_1").request).toMatchObject({ body: '{"text":"news"}' });
});

test("a bot's polling evicts none of its other calls, and has its own bound", () => {
  const records = new CallRecords(new Timeline(new ManualClock()));
  records.add(endedCall("POST", 10));
  for (let reads = 0; reads < 1_100; reads += 1) records.add(endedCall("GET", 10));
  expect(records.find("call_1")).toMatchObject({ method: "POST" });
  expect(records.find("call_2")).toBeUndefined();
  expect(records.find("call_1101")).toMatchObject({ method: "GET" });
});
