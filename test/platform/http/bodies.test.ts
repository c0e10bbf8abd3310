import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "vitest";
import { runPlatform } from "../support/platform.ts";

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
