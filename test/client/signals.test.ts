import { expect, test } from "vitest";
import { json, messagesOf, operations, rejection, serve } from "./api.ts";

test("there are 13 operations", () => {
  expect(Object.keys(operations)).toHaveLength(13);
});

test.each(Object.entries(operations))(
  "%s that is aborted under way rejects with the reason, and is not repeated",
  async (operation, call) => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const arrived = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const { client, calls } = await serve(
      (response) => {
        response.on("close", left.resolve);
        arrived.resolve();
      },
      { retries: 2 },
    );
    const requests = messagesOf(client, "request");
    const outcome = rejection(Promise.resolve(call(client, { signal: controller.signal })));
    await arrived.promise;
    controller.abort(reason);
    expect(await outcome).toBe(reason);
    // The server sees the abort, so no request stays open.
    await left.promise;
    const asked = calls.map(({ method, url = "" }) => `${method} ${url.split("?")[0]}`);
    expect(asked).toEqual([operation.replace(" ", " /api/v1").replace(/\{\w+\}/, "id_1")]);
    // Metrics and circuits are named by the operation, without an id.
    expect(requests.map((request) => request.operation)).toEqual([operation]);
  },
);

test("a signal that has aborted before lets nothing out", async () => {
  const { client, calls } = await serve(json(200, {}));
  const reason = new Error("too late");
  for (const call of Object.values(operations)) {
    const outcome = rejection(Promise.resolve(call(client, { signal: AbortSignal.abort(reason) })));
    expect(await outcome).toBe(reason);
  }
  expect(calls).toEqual([]);
});

test("a signal that aborts while the request is admitted lets nothing out", async () => {
  const { client, calls } = await serve(json(200, {}));
  const reason = new Error("too late");
  const controller = new AbortController();
  const outcome = rejection(client.me({ signal: controller.signal }));
  await Promise.resolve().then(() => controller.abort(reason));
  expect(await outcome).toBe(reason);
  expect(calls).toEqual([]);
});
