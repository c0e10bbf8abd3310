import express, { type Express } from "express";
import request from "supertest";
import { describe, expect, onTestFinished, test } from "vitest";
import { toExpress } from "../faces/receiver.ts";
import { sign } from "../faces/signature.ts";
import { apiKey, batchOf, bodyOf, limit, makeRig, now, type Rig, secret } from "./support.ts";

function appWith(
  mount: (app: Express, webhook: ReturnType<typeof toExpress>) => void,
): Rig & { app: Express } {
  const rig = makeRig();
  const app = express();
  mount(
    app,
    toExpress(() => rig.endpoints),
  );
  app.post("/echo", (req, res) => void res.json({ body: req.body }));
  app.use((_req, res) => void res.status(418).send("the application"));
  return { ...rig, app };
}

function deliver(app: Express, body: string = batchOf("1"), type = "application/json") {
  return request(app)
    .post("/webhook")
    .set("content-type", type)
    .set("x-service-signature", sign(body, secret, now))
    .send(body);
}

describe("mounted before express.json()", () => {
  const parsedAfter = () =>
    appWith((app, webhook) => {
      app.use(webhook);
      app.use(express.json());
    });

  test("deliveries are stored", async () => {
    const { app, inbox } = parsedAfter();
    expect((await deliver(app)).status).toBe(200);
    expect(inbox.stored.size).toBe(1);
  });

  test("the application's own routes still get their parsed bodies", async () => {
    const { app } = parsedAfter();
    const answer = await request(app).post("/echo").send({ hello: "there" });
    expect(answer.body).toEqual({ body: { hello: "there" } });
  });
});

describe("mounted after a body parser", () => {
  test.each([
    ["express.json()", express.json(), "application/json"],
    ["express.urlencoded()", express.urlencoded(), "application/x-www-form-urlencoded"],
    ["express.text()", express.text({ type: "*/*" }), "application/json"],
  ])(
    "%s: a valid delivery is refused with 500 and a remedy, and nothing is stored",
    async (_name, parser, type) => {
      const { app, inbox, lines } = appWith((app, webhook) => {
        app.use(parser);
        app.use(webhook);
      });
      const { status, body } = await deliver(app, batchOf("1"), type);
      expect(status).toBe(500);
      expect(body.error.code).toBe("BODY_ALREADY_PARSED");
      expect(body.error.message).toMatch(/before express\.json\(\)/);
      expect(inbox.puts).toBe(0);
      expect(lines()).toMatchObject([{ level: "error", code: "BODY_ALREADY_PARSED" }]);
    },
  );

  test("that passes this content type over: the delivery is stored", async () => {
    const { app, inbox } = appWith((app, webhook) => {
      app.use(express.urlencoded());
      app.use(webhook);
    });
    expect((await deliver(app)).status).toBe(200);
    expect(inbox.stored.size).toBe(1);
  });

  test("a body that fits the parsed one is not taken for it", async () => {
    // Parsing and serializing drops a space, which changes the signed bytes.
    const body = batchOf("1").replace('":', '": ');
    const { app, inbox } = appWith((app, webhook) => {
      app.use(express.json());
      app.use(webhook);
    });
    expect((await deliver(app, body)).status).toBe(500);
    expect(inbox.puts).toBe(0);
  });

  test("that has read only the beginning: what is left is not taken for the whole", async () => {
    const { app, inbox } = appWith((app, webhook) => {
      app.use((req, _res, next) => {
        req.once("data", () => {
          req.pause();
          next();
        });
      });
      app.use(webhook);
    });
    const { status, body } = await deliver(app);
    expect(status).toBe(500);
    expect(body.error.code).toBe("BODY_ALREADY_PARSED");
    expect(inbox.puts).toBe(0);
  });

  test("express.raw() keeps the bytes, which is as good", async () => {
    const { app, inbox } = appWith((app, webhook) => {
      app.use(express.raw({ type: "*/*" }));
      app.use(webhook);
    });
    expect((await deliver(app)).status).toBe(200);
    expect(inbox.stored.size).toBe(1);
  });

  test("bytes kept by express.raw() are verified like any others", async () => {
    const { app, inbox } = appWith((app, webhook) => {
      app.use(express.raw({ type: "*/*" }));
      app.use(webhook);
    });
    const forged = request(app)
      .post("/webhook")
      .set("content-type", "application/json")
      .set("x-service-signature", sign(batchOf("1"), secret, now))
      .send(batchOf("2"));
    expect((await forged).status).toBe(401);
    expect((await deliver(app, bodyOf(limit))).status).toBe(200);
    expect((await deliver(app, bodyOf(limit + 1))).status).toBe(413);
    expect(inbox.puts).toBe(1);
  });

  test("a host that keeps the bytes in rawBody is as good too", async () => {
    const { app, inbox } = appWith((app, webhook) => {
      app.use(
        express.json({
          verify: (req, _res, bytes) => {
            Object.assign(req, { rawBody: bytes });
          },
        }),
      );
      app.use(webhook);
    });
    expect((await deliver(app)).status).toBe(200);
    expect(inbox.stored.size).toBe(1);
  });
});

describe("everything that is not the webhook's falls through to the application", () => {
  test.each([
    ["GET", "/"],
    ["POST", "/"],
    ["GET", "/webhooks"],
    ["POST", "/webhook/more"],
    // The app serves its own health checks.
    ["GET", "/healthz"],
    ["GET", "/readyz"],
    ["GET", "/readyz?verbose"],
  ])("%s %s", async (method, path) => {
    const { app } = appWith((app, webhook) => app.use(webhook));
    const answer = await (method === "GET" ? request(app).get(path) : request(app).post(path));
    expect(answer.status).toBe(418);
  });

  test("but GET on the webhook does not", async () => {
    const { app } = appWith((app, webhook) => app.use(webhook));
    expect((await request(app).get("/webhook")).status).toBe(405);
  });
});

describe("the status", () => {
  const operator = { authorization: `Bearer ${apiKey}` };

  function appUnder(prefix: string) {
    const report = async () => ({ ready: true, mode: "auditing" });
    const { endpoints } = makeRig({}, { report });
    return express().use(
      prefix,
      toExpress(() => endpoints),
    );
  }

  test.each(["/", "/bot"])("is there for the bot's token alone, mounted at %s", async (prefix) => {
    const app = appUnder(prefix);
    const path = `${prefix}/readyz?verbose`.replace("//", "/");
    const get = (headers: Record<string, string>, target = path) =>
      request(app).get(target).set(headers);
    expect((await get(operator)).body).toEqual({ ready: true, mode: "auditing" });
    expect((await get({})).status).toBe(404);
    expect((await get({ authorization: "Bearer other" })).status).toBe(404);
    expect((await get(operator, path.replace("?verbose", ""))).status).toBe(404);
  });
});

test.each([
  ["the path that the sender uses", "/bot/webhook", "/bot", "/bot/webhook"],
  ["the path below the prefix", "/webhook", "/bot", "/bot/webhook"],
  ["the prefix itself", "/webhook", "/webhook", "/webhook"],
  ["the path below a prefix, with a slash at the end", "/webhook", "/bot", "/bot/webhook/"],
])("under a prefix, WEBHOOK_PATH can be %s", async (_name, path, prefix, target) => {
  const rig = makeRig({ path });
  const strays: string[] = [];
  const app = express();
  app.use(
    prefix,
    toExpress(() => rig.endpoints, { onStray: (stray) => strays.push(stray) }),
  );
  const answer = request(app)
    .post(target)
    .set("x-service-signature", sign(batchOf("1"), secret, now))
    .send(batchOf("1"));
  expect((await answer).status).toBe(200);
  expect(rig.inbox.stored.size).toBe(1);
  expect(strays).toEqual([]);
});

test("a signed POST on another path goes to the application, and is noticed", async () => {
  const rig = makeRig();
  const strays: string[] = [];
  const noticing = toExpress(() => rig.endpoints, { onStray: (path) => strays.push(path) });
  const app = express().use(noticing);
  const signed = request(app).post("/hook?a=1").set("x-service-signature", "t=1,v1=00");
  expect((await signed).status).toBe(404);
  expect((await request(app).post("/unsigned")).status).toBe(404);
  expect((await request(app).get("/page").set("x-service-signature", "t=1")).status).toBe(404);
  expect(strays).toEqual(["/hook"]);
});

test("a bot that only polls notices no stray delivery", async () => {
  const strays: string[] = [];
  const polling = { ...makeRig().endpoints, webhook: undefined };
  const app = express().use(toExpress(() => polling, { onStray: (path) => strays.push(path) }));
  await request(app).post("/webhook").set("x-service-signature", "t=1,v1=00");
  expect(strays).toEqual([]);
});

test("an application that has answered by itself is not answered over", async () => {
  const answered = Promise.withResolvers<void>();
  const stored = Promise.withResolvers<void>();
  const put = async () => {
    await answered.promise;
    stored.resolve();
    return { stored: ["1"], duplicates: 0, unusable: 0 };
  };
  const rig = makeRig({ inbox: { put } });
  const app = express();
  app.use((_req, res, next) => {
    next();
    res.status(504).send("too slow");
  });
  app.use(toExpress(() => rig.endpoints));
  expect(await deliver(app)).toMatchObject({ status: 504, text: "too slow" });
  answered.resolve();
  // The late response must be dropped. Writing it would throw an unhandled error, which fails the test run.
  await stored.promise;
  await new Promise((resolve) => setImmediate(resolve));
  expect(rig.lines()).toMatchObject([{ level: "info", status: 200 }]);
});

test("an application that is still answering by itself is not answered over", async () => {
  const stored = Promise.withResolvers<void>();
  const put = async () => {
    stored.resolve();
    return { stored: ["1"], duplicates: 0, unusable: 0 };
  };
  const rig = makeRig({ inbox: { put } });
  const app = express();
  app.use(async (_req, res, next) => {
    res.status(504).write("too ");
    next();
    await stored.promise;
    // The late response must be dropped. Writing it would cause an unhandled rejection.
    setImmediate(() => res.end("slow"));
  });
  app.use(toExpress(() => rig.endpoints));
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  expect(await deliver(app)).toMatchObject({ status: 504, text: "too slow" });
  expect(unhandled).toEqual([]);
});

test("what breaks in here never reaches the application's error page", async () => {
  const webhook = { receive: () => Promise.reject(new Error(secret)) };
  const app = express();
  app.use(toExpress(() => ({ ...makeRig().endpoints, webhook })));
  app.use(((error, _req, res, _next) =>
    res.status(599).send(String(error))) satisfies express.ErrorRequestHandler);
  const answer = await deliver(app);
  expect(answer.status).toBe(500);
  expect(answer.body.error.code).toBe("INTERNAL");
  expect(answer.text).not.toContain(secret);
});
