import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "vitest";
import { runPlatform, request as send } from "../support/platform.ts";

test.each([
  ["/", 404],
  ["/nothing", 404],
  ["/api/v1/nothing", 401],
  ["/control/v1/nothing", 401],
])(
  "a body that %s does not read can be sent whole, and its sender gets %i",
  async (path, status) => {
    const { url } = await runPlatform();
    const asked = request(`${url}${path}`, { method: "POST" });
    const answered = once(asked, "response");
    asked.end(Buffer.alloc(20_000_000));
    await once(asked, "finish");
    const [answer] = await answered;
    answer.resume();
    expect(answer.statusCode).toBe(status);
  },
);

test("a body of a million small values gets 413", async () => {
  const body = { text: "hi", x: Array(340_000).fill([]) };
  const refused = await send(await runPlatform(), "POST", "/api/v1/posts", { body });
  expect(refused).toMatchObject({ status: 413, body: { error: { code: "TOO_LARGE" } } });
});
