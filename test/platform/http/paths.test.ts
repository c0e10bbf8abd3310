import { expect, test } from "vitest";
import { request, runPlatform } from "../support/platform.ts";

test.each(["/nothing", "/API/v1/me", "/control/v1/nothing", "/control/v1/state/"])(
  "GET %s gets 404 NOT_FOUND",
  async (path) => {
    const { status, body } = await request(await runPlatform(), "GET", path);
    expect(status).toBe(404);
    expect(body).toEqual({ error: { code: "NOT_FOUND", message: expect.any(String) } });
  },
);

test("a wrong method of the control API gets 405 and the right ones", async () => {
  const { status, headers } = await request(await runPlatform(), "DELETE", "/control/v1/webhook");
  expect([status, headers.get("allow")]).toEqual([405, "GET, PUT"]);
});
