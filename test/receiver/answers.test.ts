import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ServiceBotError } from "../faces/errors.ts";
import { beforeStart } from "../faces/receiver.ts";
import { sign } from "../faces/signature.ts";
import {
  apiKey,
  batchOf,
  bodyOf,
  delivery,
  errorIn,
  faces,
  follow,
  healthFaces,
  limit,
  makeRig,
  now,
  secret,
  type TestRequest,
  web,
} from "./support.ts";

const operator = { authorization: `Bearer ${apiKey}` };

interface Row {
  readonly name: string;
  readonly request: TestRequest;
  readonly status: number;
  /** Error code in the response body. A 2xx response has none. */
  readonly code?: string;
  readonly stores?: readonly string[];
}

const header = (value: string): TestRequest => ({ headers: { "x-service-signature": value } });
const good = sign(batchOf("1"), secret, now);

const accepted: readonly Row[] = [
  {
    name: "a good delivery",
    request: delivery(batchOf("1", "2")),
    status: 200,
    stores: ["1", "2"],
  },
  {
    name: "a delivery without events",
    request: delivery('{"events":[]}'),
    status: 200,
    stores: [],
  },
  {
    name: "a delivery in chunks",
    request: delivery(batchOf("1"), { chunked: true }),
    status: 200,
    stores: ["1"],
  },
  { name: "new fields beside events", request: delivery('{"events":[],"page":2}'), status: 200 },
  {
    name: "a timestamp 300 s old",
    request: delivery('{"events":[]}', header(sign('{"events":[]}', secret, now - 300))),
    status: 200,
  },
  {
    name: "a body of exactly the limit",
    request: delivery(bodyOf(limit)),
    status: 200,
    stores: ["1"],
  },
  {
    name: "a body of exactly the limit, in chunks",
    request: delivery(bodyOf(limit), { chunked: true }),
    status: 200,
    stores: ["1"],
  },
  {
    name: "a slash at the end of the path",
    request: delivery(batchOf("1"), { path: "/webhook/" }),
    status: 200,
    stores: ["1"],
  },
  {
    name: "a query behind the path",
    request: delivery(batchOf("1"), { path: "/webhook?source=portal" }),
    status: 200,
    stores: ["1"],
  },
  {
    name: "another content type",
    request: delivery(batchOf("1"), { headers: { "content-type": "text/plain" } }),
    status: 200,
    stores: ["1"],
  },
  {
    name: "a byte order mark",
    request: delivery(`\ufeff${batchOf("1")}`),
    status: 200,
    stores: ["1"],
  },
  {
    name: "a text cut inside a character",
    request: delivery(Buffer.from(batchOf("1", "2").replace("Ada", "Ad\xc3"), "latin1")),
    status: 200,
    stores: ["1", "2"],
  },
];

const refused: readonly Row[] = [
  {
    name: "no signature",
    request: { ...delivery(batchOf("1")), headers: {} },
    status: 400,
    code: "SIGNATURE_MISSING",
  },
  {
    name: "an empty signature",
    request: delivery(batchOf("1"), header("")),
    status: 400,
    code: "SIGNATURE_MALFORMED",
  },
  {
    name: "a malformed signature",
    request: delivery(batchOf("1"), header("v1=abc")),
    status: 400,
    code: "SIGNATURE_MALFORMED",
  },
  {
    name: "the good signature twice",
    request: delivery(batchOf("1"), { headers: { "x-service-signature": [good, good] } }),
    status: 400,
    code: "SIGNATURE_MALFORMED",
  },
  {
    name: "a timestamp 301 s old",
    request: delivery(batchOf("1"), header(sign(batchOf("1"), secret, now - 301))),
    status: 400,
    code: "SIGNATURE_STALE",
  },
  {
    name: "a timestamp 301 s in the future",
    request: delivery(batchOf("1"), header(sign(batchOf("1"), secret, now + 301))),
    status: 400,
    code: "SIGNATURE_STALE",
  },
  {
    name: "another secret",
    request: delivery(batchOf("1"), header(sign(batchOf("1"), "whsec_another_one", now))),
    status: 401,
    code: "SIGNATURE_MISMATCH",
  },
  {
    name: "another body",
    request: delivery(batchOf("1"), header(sign(batchOf("2"), secret, now))),
    status: 401,
    code: "SIGNATURE_MISMATCH",
  },
  {
    name: "a body that is no JSON and not signed",
    request: delivery("{", header(sign("x", secret, now))),
    status: 401,
    code: "SIGNATURE_MISMATCH",
  },
  { name: "an empty body", request: delivery(""), status: 400, code: "BODY_INVALID" },
  { name: "a body that is no JSON", request: delivery("{"), status: 400, code: "BODY_INVALID" },
  ...[
    "null",
    "[]",
    "5",
    '"events"',
    "{}",
    '{"events":null}',
    '{"events":{}}',
    '{"events":"x"}',
    '{"Events":[]}',
    '{"__proto__":{"events":[]}}',
  ].map(
    (body): Row => ({
      name: `the body ${body}`,
      request: delivery(body),
      status: 400,
      code: "BODY_INVALID",
    }),
  ),
  {
    name: "a NUL in front",
    request: delivery(`\0${batchOf("1")}`),
    status: 400,
    code: "BODY_INVALID",
  },
  {
    name: "a body in gzip, which nobody unpacks",
    request: delivery(gzipSync(batchOf("1")), { headers: { "content-encoding": "gzip" } }),
    status: 415,
    code: "BODY_ENCODED",
  },
  {
    name: "a body in gzip, signed before it was packed",
    request: delivery(gzipSync(batchOf("1")), {
      headers: {
        "content-encoding": "gzip",
        "x-service-signature": sign(batchOf("1"), secret, now),
      },
    }),
    status: 401,
    code: "SIGNATURE_MISMATCH",
  },
  {
    name: "a body one byte over the limit",
    request: delivery(bodyOf(limit + 1)),
    status: 413,
    code: "BODY_TOO_LARGE",
  },
  {
    name: "a body one byte over the limit, in chunks",
    request: delivery(bodyOf(limit + 1), { chunked: true }),
    status: 413,
    code: "BODY_TOO_LARGE",
  },
  {
    name: "a body far over the limit",
    request: delivery("x".repeat(5_000_000)),
    status: 413,
    code: "BODY_TOO_LARGE",
  },
  {
    name: "a body far over the limit, in chunks",
    request: delivery("x".repeat(5_000_000), { chunked: true }),
    status: 413,
    code: "BODY_TOO_LARGE",
  },
  {
    name: "a body over the limit without a signature",
    request: { ...delivery(bodyOf(limit + 1)), headers: {} },
    status: 400,
    code: "SIGNATURE_MISSING",
  },
  ...["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"].map(
    (method): Row => ({
      name: method,
      request: { method, path: "/webhook" },
      status: 405,
      code: "METHOD_NOT_ALLOWED",
    }),
  ),
];

describe.each(faces)("over $name", (face) => {
  test.each(accepted)("$name is accepted", async ({ request, status, stores }) => {
    const { endpoints, inbox } = makeRig();
    const send = await face.open(endpoints);
    const answer = await send(request);
    expect(answer.status).toBe(status);
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
    if (stores !== undefined) expect([...inbox.stored.keys()]).toEqual(stores);
  });

  test.each(refused)("$name is refused with $status", async ({ request, status, code }) => {
    const { endpoints, inbox, lines, log } = makeRig();
    const send = await face.open(endpoints);
    const answer = await send(request);
    expect(answer.status).toBe(status);
    expect(inbox.puts).toBe(0);
    expect(log.join("")).not.toContain(secret);
    if (request.method === "HEAD") return;
    expect(errorIn(answer)).toEqual({ code, message: expect.stringMatching(/\w/) });
    expect(JSON.parse(answer.text)).toEqual({ error: errorIn(answer) });
    expect(answer.text).not.toContain(secret);
    if (status === 405) expect(answer.headers.allow).toBe("POST");
    else expect(lines()).toMatchObject([{ level: "warn", code, status }]);
  });

  test("a repeated delivery is accepted too, and stored once", async () => {
    const { endpoints, inbox } = makeRig();
    const send = await face.open(endpoints);
    for (const stored of [2, 0]) {
      const answer = await send(delivery(batchOf("1", "2")));
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.text)).toEqual({ stored, duplicates: 2 - stored });
    }
    expect(inbox.stored.size).toBe(2);
  });

  test("every secret of a rotation is good", async () => {
    const { endpoints } = makeRig({ secrets: ["whsec_the_new_one", secret] });
    const send = await face.open(endpoints);
    const body = batchOf("1");
    expect((await send(delivery(body))).status).toBe(200);
    const signed = delivery(body, header(sign(body, "whsec_the_new_one", now)));
    expect((await send(signed)).status).toBe(200);
  });

  test("one bad event in a good batch is passed on as unusable; the answer is 200", async () => {
    const { endpoints, inbox, lines } = makeRig();
    const send = await face.open(endpoints);
    const events = [follow("1"), { id: "2", type: "follow", payload: {} }, "nonsense", follow("3")];
    const answer = await send(delivery(JSON.stringify({ events })));
    expect(answer.status).toBe(200);
    const usable = [...inbox.stored.values()].filter(({ unusable }) => unusable === undefined);
    expect(usable.map(({ id }) => id)).toEqual(["1", "3"]);
    expect(inbox.stored.get("2")?.unusable).toMatch(/payload\.actor/);
    expect(inbox.stored.size).toBe(4);
    expect(lines()).toMatchObject([{ level: "error", status: 200, unusable: 2 }]);
  });

  test("an event that is nested too deeply is one bad event", async () => {
    const { endpoints, inbox } = makeRig({ maxBodyBytes: 1_000_000 });
    const send = await face.open(endpoints);
    const levels = 200_000;
    const nested = `{"id":"1","type":"whisper","payload":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}}`;
    const answer = await send(delivery(`{"events":[${nested},${JSON.stringify(follow("2"))}]}`));
    expect(answer.status).toBe(200);
    expect(inbox.stored.get("1")?.unusable).toBeDefined();
    expect(inbox.stored.get("2")).toMatchObject({ lane: "user:ada" });
  });

  test("a failing store causes a 503 with Retry-After, and logged as an error", async () => {
    const put = () => Promise.reject(new Error("database at /var/lib/bot.db is full"));
    const { endpoints, lines } = makeRig({ inbox: { put } });
    const send = await face.open(endpoints);
    const answer = await send(delivery(batchOf("1")));
    expect(answer.status).toBe(503);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    expect(errorIn(answer).code).toBe("STORE_UNAVAILABLE");
    // The response must not show the database's path, which the operator finds in the log.
    expect(answer.text).not.toContain("bot.db");
    const err = { message: expect.stringContaining("bot.db") };
    expect(lines()).toMatchObject([{ level: "error", status: 503, err }]);
  });

  test("a full inbox causes a 503 with Retry-After and INBOX_FULL", async () => {
    const full = new ServiceBotError("INBOX_FULL", "100000 events wait");
    const { endpoints } = makeRig({ inbox: { put: () => Promise.reject(full) } });
    const send = await face.open(endpoints);
    const answer = await send(delivery(batchOf("1")));
    expect(answer.status).toBe(503);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    expect(errorIn(answer).code).toBe("INBOX_FULL");
  });

  test("the response waits until the batch is stored", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const order: string[] = [];
    const put = async () => {
      reached.resolve();
      await promise;
      order.push("stored");
      return { stored: ["1"], duplicates: 0, unusable: 0 };
    };
    const { endpoints } = makeRig({ inbox: { put } });
    const send = await face.open(endpoints);
    const answer = send(delivery(batchOf("1"))).finally(() => order.push("answered"));
    await reached.promise;
    // A response that was sent too early would have arrived before the response to this later request.
    await send(delivery("{"));
    expect(order).toEqual([]);
    resolve();
    expect((await answer).status).toBe(200);
    expect(order).toEqual(["stored", "answered"]);
  });

  test("a delivery before the bot has started gets a retry response", async () => {
    const { endpoints } = makeRig();
    const send = await face.open({ ...endpoints, webhook: beforeStart("/webhook") });
    const answer = await send(delivery(batchOf("1")));
    expect(answer.status).toBe(503);
    expect(answer.headers["retry-after"]).toBeDefined();
    expect(errorIn(answer).code).toBe("NOT_READY");
  });

  test("deliveries that come at once are answered each for itself", async () => {
    const { endpoints, inbox } = makeRig();
    const send = await face.open(endpoints);
    const ids = Array.from({ length: 50 }, (_, index) => String(index));
    const answers = await Promise.all(
      ids.map((id) => send(Number(id) % 5 === 0 ? delivery("{") : delivery(batchOf(id)))),
    );
    expect(answers.map(({ status }) => status)).toEqual(
      ids.map((id) => (Number(id) % 5 === 0 ? 400 : 200)),
    );
    expect(inbox.stored.size).toBe(40);
  });

  test("there is no webhook when events are polled for", async () => {
    const { endpoints, inbox } = makeRig();
    const send = await face.open({ ...endpoints, webhook: undefined });
    const answer = await send(delivery(batchOf("1")));
    expect(answer.status).toBe(face.standalone ? 404 : 418);
    expect(inbox.puts).toBe(0);
    if (face.standalone) expect(errorIn(answer).code).toBe("NOT_FOUND");
  });

  test("the webhook can be at the root", async () => {
    const { endpoints, inbox } = makeRig({ path: "/" });
    const send = await face.open(endpoints);
    expect((await send(delivery(batchOf("1"), { path: "/" }))).status).toBe(200);
    expect(inbox.stored.size).toBe(1);
  });

  test.each(["/", "/webhooks", "/webhook/x", "/Webhook", "/x/webhook"])(
    "%s is not the webhook",
    async (path) => {
      const { endpoints, inbox } = makeRig();
      const send = await face.open(endpoints);
      const answer = await send(delivery(batchOf("1"), { path }));
      expect(answer.status).toBe(face.standalone ? 404 : 418);
      expect(inbox.puts).toBe(0);
    },
  );
});

describe.each(healthFaces)("health over $name", (face) => {
  test("/healthz is 200 while the process lives, for any state of the store", async () => {
    const { endpoints } = makeRig({}, { isReady: async () => false });
    const send = await face.open(endpoints);
    expect(await send({ path: "/healthz" })).toMatchObject({
      status: 200,
      text: '{"status":"ok"}',
    });
  });

  test("/readyz is 200 when the bot is ready, and 503 when it is not", async () => {
    for (const ready of [true, false]) {
      const { endpoints } = makeRig({}, { isReady: async () => ready });
      const send = await face.open(endpoints);
      const answer = await send({ path: "/readyz" });
      expect(answer.status).toBe(ready ? 200 : 503);
      if (!ready) expect(errorIn(answer).code).toBe("NOT_READY");
    }
  });

  test("/readyz?verbose has the codes of /readyz, and more details", async () => {
    for (const ready of [true, false]) {
      const report = { ready, mode: "auditing" };
      const { endpoints } = makeRig({}, { isReady: async () => ready, report: async () => report });
      const send = await face.open(endpoints);
      for (const path of ["/readyz?verbose", "/readyz/?verbose=1", "/readyz?a=b&verbose"]) {
        const answer = await send({ path, headers: operator });
        expect(answer.status).toBe(ready ? 200 : 503);
        expect(answer.headers["retry-after"]).toBe(ready ? undefined : "5");
        expect(JSON.parse(answer.text)).toEqual(report);
      }
      for (const path of ["/readyz?", "/readyz?verbosely", "/readyz?a=verbose"]) {
        expect((await send({ path, headers: operator })).text).not.toContain("auditing");
      }
    }
  });

  test("/readyz?verbose keeps the report to those who have the bot's token", async () => {
    for (const ready of [true, false]) {
      const report = () => Promise.reject(new Error("nobody may ask for it"));
      const { endpoints } = makeRig({}, { isReady: async () => ready, report });
      const send = await face.open(endpoints);
      for (const authorization of [
        undefined,
        "",
        apiKey,
        "Bearer",
        `Bearer ${apiKey}x`,
        "Basic x",
      ]) {
        const headers = authorization === undefined ? {} : { authorization };
        const answer = await send({ path: "/readyz?verbose", headers });
        expect(answer.status).toBe(ready ? 200 : 503);
        expect(answer.headers["retry-after"]).toBe(ready ? undefined : "5");
        const { verbose, ...plain } = JSON.parse(answer.text);
        expect(verbose).toContain("SERVICE_API_KEY");
        expect(plain).toEqual(JSON.parse((await send({ path: "/readyz" })).text));
      }
    }
  });

  test("both are there also when events are polled for", async () => {
    const { endpoints } = makeRig();
    const send = await face.open({ ...endpoints, webhook: undefined });
    expect((await send({ path: "/healthz" })).status).toBe(200);
    expect((await send({ path: "/readyz" })).status).toBe(200);
  });

  test("HEAD is answered without a body", async () => {
    const send = await face.open(makeRig().endpoints);
    expect(await send({ method: "HEAD", path: "/healthz" })).toMatchObject({
      status: 200,
      text: "",
    });
  });

  test.each(["/healthz", "/readyz"])("%s takes no POST", async (path) => {
    const send = await face.open(makeRig().endpoints);
    const answer = await send({ method: "POST", path });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe("GET, HEAD");
  });

  test("an internal error is a 500 without details", async () => {
    const isReady = () => Promise.reject(new Error(`cannot read ${secret}`));
    const send = await face.open(makeRig({}, { isReady }).endpoints);
    const { endpoints } = makeRig({}, { report: isReady });
    const verbose = await (await face.open(endpoints))({
      path: "/readyz?verbose",
      headers: operator,
    });
    for (const answer of [await send({ path: "/readyz" }), verbose]) {
      expect(answer.status).toBe(500);
      expect(errorIn(answer).code).toBe("INTERNAL");
      expect(answer.text).not.toContain(secret);
    }
  });
});

describe("once the inbox no longer belongs to the bot", () => {
  test.each(faces)("deliveries over $name get 503 and are not stored", async ({ open }) => {
    const rig = makeRig();
    const send = await open(rig.endpoints);
    expect((await send(delivery(batchOf("1")))).status).toBe(200);
    rig.receiver.close();
    const answer = await send(delivery(batchOf("2")));
    expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
    expect(errorIn(answer).code).toBe("STORE_UNAVAILABLE");
    expect([...rig.inbox.stored.keys()]).toEqual(["1"]);
  });

  test("nor is what was being stored acknowledged", async () => {
    const rig = makeRig({
      inbox: {
        put: async () => {
          rig.receiver.close();
          return { stored: ["1"], duplicates: 0, unusable: 0 };
        },
      },
    });
    const send = await web.open(rig.endpoints);
    const answer = await send(delivery(batchOf("1")));
    expect(answer.status).toBe(503);
    expect(rig.receiver.lastDeliveryAt).toBeUndefined();
  });
});
