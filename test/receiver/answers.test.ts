import { describe, expect, test } from "vitest";
import { ServiceBotError } from "../faces/errors.ts";
import { beforeStart } from "../faces/receiver.ts";
import { sign } from "../faces/signature.ts";
import {
  batches,
  encodings,
  MEBIBYTE,
  one,
  type Row,
  shapes,
  signatures,
  sizes,
  sum,
} from "./hostile-requests.ts";
import {
  apiKey,
  batchOf,
  delivery,
  errorIn,
  faces,
  follow,
  healthFaces,
  makeRig,
  now,
  secret,
  type TestRequest,
  web,
} from "./support.ts";

const operator = { authorization: `Bearer ${apiKey}` };
const good = sign(batchOf("1"), secret, now);

const header = (value: string): TestRequest => ({ headers: { "x-service-signature": value } });

/** Requests that a client can send over every adapter. Node's own server answers the others. */
const rows: readonly Row<TestRequest>[] = [
  ...[...signatures, ...batches.slice(0, 2), ...shapes, ...encodings, ...sizes].filter(isRequest),
  ["a slash at the end of the path", one("1", { path: "/webhook/" }), "200 1 new"],
  ["a query behind the path", one("1", { path: "/webhook?source=portal" }), "200 1 new"],
  ["another content type", one("1", { headers: { "content-type": "text/plain" } }), "200 1 new"],
  ["another body that is no JSON", delivery("{", header(good)), "401 SIGNATURE_MISMATCH"],
  ...["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"].map(
    (method): Row<TestRequest> => [
      method,
      { method, path: "/webhook" },
      method === "HEAD" ? "405" : "405 METHOD_NOT_ALLOWED",
    ],
  ),
];

function isRequest(row: Row): row is Row<TestRequest> {
  const [, request, answer] = row;
  return !Buffer.isBuffer(request) && answer !== "431";
}

describe.each(faces)("over $name", (face) => {
  test.each(rows)("%s: %s", async (_name, request, expected) => {
    const { endpoints, inbox, lines, log } = makeRig({ maxBodyBytes: MEBIBYTE });
    const answer = await (await face.open(endpoints))(request);
    expect(sum(answer)).toBe(expected);
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
    for (const text of [answer.text, log.join("")]) expect(text).not.toContain(secret);
    const { status } = answer;
    expect(inbox.puts).toBe(status === 200 ? 1 : 0);
    if (status === 405) expect(answer.headers.allow).toBe("POST");
    if (status === 200 || request.method === "HEAD") return;
    const error = errorIn(answer);
    expect(JSON.parse(answer.text)).toEqual({ error });
    expect(error).toEqual({ code: expect.any(String), message: expect.stringMatching(/\w/) });
    if (status !== 405)
      expect(lines()).toMatchObject([{ level: "warn", status, code: error.code }]);
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
    expect(rig.receiver.history.lastDeliveryAt).toBeUndefined();
  });
});
